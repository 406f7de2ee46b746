"""Settings of the processes that tests start: the queue and the probe app, nothing else.

Database, broker, leases and Celery use the site's own settings.
"""

from portal.settings import *  # noqa: F403

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "portal.audit",
    "portal.accounts",
    "portal.jobs",
    "tests.jobs.probe",
]
MIGRATION_MODULES = {"probe": None}  # its table is made by `migrate --run-syncdb`
MIDDLEWARE = []
TEMPLATES = []
ROOT_URLCONF = __name__
urlpatterns: list[object] = []
