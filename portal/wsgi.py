"""The WSGI entry of the web server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# To load the site makes objects by the hundred thousand, and all of them stay: to look through them
# for garbage again and again takes a quarter of the time until the first page.
gc.disable()
application = get_wsgi_application()
# Else the first who asks would wait until all pages' code is loaded.
get_resolver().url_patterns  # noqa: B018 - a property that loads
gc.freeze()
gc.enable()
