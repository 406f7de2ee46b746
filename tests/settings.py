"""The site's settings with what makes tests quick and self-contained."""

import os

from portal.settings import *  # noqa: F403

# Playwright keeps an event loop in the tests' thread; Django would refuse to query beside it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# Static files come from where they are written; nothing is collected first.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True

# Hashing passwords slowly on purpose is for real ones.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_BROKER_URL = "memory://"
