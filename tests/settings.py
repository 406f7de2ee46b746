"""The site's settings, changed to make tests fast and self-contained."""

import os

from portal.settings import *  # noqa: F403

# Playwright runs an event loop in the thread of the tests, in which Django refuses queries.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# Serve static files from the source folders, without collecting them.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True

# Slow password hashing only protects real passwords.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES["default"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}  # noqa: F405
CELERY_BROKER_URL = "memory://"
EMBEDDING_MODEL = None

# A test database need not survive a power cut.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    _OPTIONS = DATABASES["default"]["OPTIONS"]  # noqa: F405
    DATABASES["default"]["OPTIONS"] = _OPTIONS | {  # noqa: F405
        "init_command": _OPTIONS["init_command"] + "PRAGMA synchronous=OFF;"
    }
else:
    DATABASES["default"]["OPTIONS"] = {"options": "-c synchronous_commit=off"}  # noqa: F405
