"""The WSGI entry of the web server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from portal.schema import require_current

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# Loading the site creates hundreds of thousands of permanent objects. Disabling garbage collection
# meanwhile saves a quarter of the start time.
gc.disable()
application = get_wsgi_application()
require_current()
# Otherwise the first request would wait until the code of all pages is loaded.
get_resolver().url_patterns  # noqa: B018 - a property that loads
# And until all of it is read, for the first ETag. REST framework needs the settings to be imported.
from portal.web.requests import build  # noqa: E402

build()
gc.freeze()
# A large page creates tens of thousands of objects that live until it is sent. With Python's
# threshold of 700, they and all cached tables would be searched for cycles again and again.
gc.set_threshold(20_000, 10, 10)
gc.enable()
