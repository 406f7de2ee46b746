"""Settings of the whole site with scorers that tests can make die."""

from portal.settings import *  # noqa: F403
from portal.settings import INSTALLED_APPS as SITE_APPS

INSTALLED_APPS = [*SITE_APPS, "tests.scoring.failing"]
GRADING_CHUNK = 4
