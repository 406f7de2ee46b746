"""A campaign with the named cast: Ann and Ben annotate, Lea leads, Rita reviews."""

import pytest

from annotation.models import Campaign
from portal.accounts.models import User
from tests.worlds import _worlds_end, pytest_fixture_setup, shared

from .factories import make_campaign, submit, work_of

__all__ = ["_worlds_end", "pytest_fixture_setup"]


@pytest.fixture
@shared
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Two documents, each assigned to Ann and Ben. No work is started."""
    return make_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=2)


@pytest.fixture
@shared
def disputed(campaign: Campaign, ann: User, ben: User) -> Campaign:
    """Both submitted the first document: one span is agreed, three cases are open."""
    submit(
        work_of(ann, campaign),
        ("Number", "1,200"),
        ("Number", "(310)"),
        ("Date", "March 31, 2025"),
    )
    submit(
        work_of(ben, campaign),
        ("Number", "1,200"),
        ("Number", "310"),
        ("Number", "March 31, 2025"),
        ("Number", "1,200"),
    )
    return campaign
