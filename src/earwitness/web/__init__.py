"""Web server that runs a study in listeners' browsers.

What goes over the wire is what ``studies.pages`` makes, with addresses that say nothing. An
answer is committed before it is acknowledged; the page that is open is the first that the store
has no answer to, so that nothing has to be remembered anywhere else.
"""

from __future__ import annotations

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if find_spec("starlette") is None or find_spec("uvicorn") is None or find_spec("jinja2") is None:
    raise MissingExtra("starlette, uvicorn or jinja2", "serve", "serving a study")
