"""Figures are computed again in every test."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    """Rows of one test can have the keys and times of another test."""
    cache.clear()
