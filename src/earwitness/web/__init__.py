"""Web server that runs a study in listeners' browsers.

The server sends the views that ``studies.pages`` creates, with sound addresses that do not reveal
the system. An answer is committed before it is acknowledged. The open page is the first one without
an answer in the database, so the server keeps no other state.
"""

from __future__ import annotations

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if any(find_spec(name) is None for name in ("starlette", "uvicorn", "httptools", "jinja2")):
    raise MissingExtra("starlette, uvicorn, httptools or jinja2", "serve", "serving a study")
