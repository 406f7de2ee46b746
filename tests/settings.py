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
CACHES["default"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}  # noqa: F405
CELERY_BROKER_URL = "memory://"
EMBEDDING_MODEL = None

# Nobody misses a test's database that a loss of power has broken.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    _OPTIONS = DATABASES["default"]["OPTIONS"]  # noqa: F405
    DATABASES["default"]["OPTIONS"] = _OPTIONS | {  # noqa: F405
        "init_command": _OPTIONS["init_command"] + "PRAGMA synchronous=OFF;"
    }
else:
    DATABASES["default"]["OPTIONS"] = {"options": "-c synchronous_commit=off"}  # noqa: F405
