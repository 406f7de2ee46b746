"""Sample boards with results of an earlier scorer are graded again, with a change log."""

import pytest

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from sample.loader import regrade_outdated
from sample.parts import SLUG
from scoring.models import Entry, Grading, Regrade
from tests.fixture_types import ClientOf
from tests.scoring.factories import make_board
from tests.scoring.regrading import three_results

pytestmark = pytest.mark.django_db


def test_results_of_an_earlier_scorer_are_graded_again_once(
    researcher: User, client_of: ClientOf
) -> None:
    three_results(make_board(slug=SLUG), researcher)
    assert not regrade_outdated()
    grading = Grading.objects.order_by("pk")[0]
    benchmark, version, *options = grading.signature.split("|")
    earlier = "|".join([benchmark, "v0", *options])
    Grading.objects.update(signature=earlier)
    Entry.objects.update(signature=earlier)
    [queued] = regrade_outdated()
    assert not regrade_outdated()
    run_due_jobs()
    queued.refresh_from_db()
    assert queued.state == Regrade.State.DONE
    assert not regrade_outdated()
    log = client_of(None).get(f"/boards/{SLUG}/changes/").content.decode()
    assert f"Scorer v0 → {version}" in log.replace("<wbr>", "")
