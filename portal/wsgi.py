"""The WSGI entry of the web server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# Loading the site creates hundreds of thousands of permanent objects. Disabling garbage collection
# meanwhile saves a quarter of the start time.
gc.disable()
application = get_wsgi_application()
# Otherwise the first request would wait until the code of all pages is loaded.
get_resolver().url_patterns  # noqa: B018 - a property that loads
gc.freeze()
gc.enable()
