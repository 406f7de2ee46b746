"""What an installation without re-grades holds when it has been migrated."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.models import Grading

from .factories import make_board, make_submission

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = ("scoring", "0002_phases_limits_cards")


def newest() -> list[tuple[str, str]]:
    leaves: list[tuple[str, str]] = MigrationExecutor(connection).loader.graph.leaf_nodes()
    return leaves


@pytest.fixture
def _as_before() -> Iterator[None]:
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(newest())


@pytest.mark.usefixtures("_as_before")
def test_gradings_get_the_release_of_their_phase(researcher: User) -> None:
    made = [make_submission(make_board(slug=slug), researcher) for slug in ("one", "two")]
    run_due_jobs()
    MigrationExecutor(connection).migrate([BEFORE])
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, "scoring_grading")
    assert "release_id" not in {column.name for column in columns}
    MigrationExecutor(connection).migrate(newest())
    gradings = Grading.objects.order_by("pk")
    assert [each.release_id for each in gradings] == [each.phase.release_id for each in made]
    assert [each.scores["ffa"] for each in gradings] == [1.0, 1.0]
