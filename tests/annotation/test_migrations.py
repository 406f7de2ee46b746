"""What an installation of the first version holds when the second has migrated it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

pytestmark = pytest.mark.django_db(transaction=True)


def step_by_step() -> MigrationExecutor:
    """Sees the single migrations, as an older installation does, and not those folded into one."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    return executor


def migrate(name: str) -> Any:
    """The models as they are after this migration of annotation."""
    step_by_step().migrate([("annotation", name)])
    # The other apps' tables stay as they are now.
    executor = step_by_step()
    others = [leaf for leaf in single_leaves(executor) if leaf[0] != "annotation"]
    return executor.loader.project_state([("annotation", name), *others]).apps


def single_leaves(executor: MigrationExecutor) -> list[tuple[str, str]]:
    """The migrations that nothing follows and that are not folded of others."""
    graph = executor.loader.graph
    return [leaf for leaf in graph.leaf_nodes() if not graph.nodes[leaf].replaces]


def to_the_newest() -> None:
    executor = step_by_step()
    executor.migrate(single_leaves(executor))
    executor.loader.check_consistent_history(connection)


@pytest.fixture
def first_version() -> Iterator[Any]:
    yield migrate("0001_initial")
    to_the_newest()


def test_spans_get_values_and_guidelines_their_versions(first_version: Any) -> None:
    made = _world(first_version)
    apps = migrate("0003_values_and_first_guidelines")
    span = apps.get_model("annotation", "Span").objects.get()
    assert (span.value, span.sign, span.edited) == ("-310", "parentheses", False)
    versions = apps.get_model("annotation", "GuidelinesVersion").objects.order_by("number")
    assert [(row.number, row.text, row.author_id) for row in versions] == [
        (1, "First.", None),
        (2, "Second.", made["user"].pk),
        (3, "Third.", made["user"].pk),
    ]
    assert versions[0].created_at == made["campaign"].created_at
    assert apps.get_model("annotation", "Campaign").objects.get().guidelines_version == 3


def _world(apps: Any) -> dict[str, Any]:
    """A campaign whose guidelines were edited twice, and a span in it."""

    def model(label: str) -> Any:
        return apps.get_model(label).objects

    user = model("accounts.User").create(email="lea@example.org", name="Lea")
    dataset = model("datasets.Dataset").create(slug="d", title="D")
    document = model("datasets.Document").create(
        dataset=dataset, name="p", text_chars=5, text_sha256="a", html_sha256="b"
    )
    campaign = model("annotation.Campaign").create(
        slug="c", title="C", dataset=dataset, guidelines="Third."
    )
    for former in ("First.", "Second."):
        model("audit.Event").create(
            verb="edit_guidelines",
            subject_type="annotation.campaign",
            subject_id=str(campaign.pk),
            actor_id=user.pk,
            data={"former": former},
        )
    row = model("annotation.CampaignDocument").create(campaign=campaign, document=document)
    work = model("annotation.Assignment").create(campaign_document=row, annotator=user)
    model("annotation.Span").create(
        assignment=work, key="a", label="Number", start=0, end=5, quote="(310)"
    )
    return {"user": user, "campaign": campaign}
