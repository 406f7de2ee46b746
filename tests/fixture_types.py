"""The types of the fixtures in `tests.conftest` that tests call."""

from collections.abc import Callable

from django.test import Client
from playwright.sync_api import Page
from rest_framework.test import APIClient

from portal.accounts.models import User

# Clients of a user, or of a visitor.
ClientOf = Callable[[User | None], Client]
ApiOf = Callable[[User | None], APIClient]
# Opens a page in a browser, logged in as a user.
PageOf = Callable[..., Page]
# Does the due jobs, and returns how many.
RunJobs = Callable[[], int]
