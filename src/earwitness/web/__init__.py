"""A study in the browser: pages, sounds and answers, served to listeners.

What goes over the wire is what ``listening.pages`` makes, with addresses that say nothing. An
answer is committed before it is acknowledged; the page that is open is the first that the store
has no answer to, so that nothing has to be remembered anywhere else.
"""

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if find_spec("starlette") is None or find_spec("uvicorn") is None or find_spec("jinja2") is None:
    raise MissingExtra("starlette, uvicorn or jinja2", "serve", "serving a study")

from earwitness.web.app import make_app
from earwitness.web.site import POLICIES, Settings, Site, make_site

__all__ = ["POLICIES", "Settings", "Site", "make_app", "make_site"]
