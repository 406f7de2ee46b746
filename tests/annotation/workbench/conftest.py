"""Ann's first task, and the workbench that shows it in a browser."""

import pytest

from annotation.models import Assignment, Campaign
from portal.accounts.models import User
from tests.annotation.factories import work_of
from tests.e2e.workbench import Opened, open_task
from tests.fixture_types import PageOf
from tests.worlds import shared


@pytest.fixture
@shared
def work(campaign: Campaign, ann: User) -> Assignment:
    return work_of(ann, campaign)


@pytest.fixture
def opened(page_of: PageOf, work: Assignment, ann: User) -> Opened:
    """The workbench with Ann's task, and the frame of its document."""
    page = page_of(ann)
    return page, open_task(page, work.get_absolute_url())
