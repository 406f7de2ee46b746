"""Freezing: the content of a release, refusals, and that it never changes."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import models

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    ImmutableRowError,
    Release,
    ReleaseItem,
)
from portal.datasets.releases.gold import GoldItem, ReleaseError
from portal.datasets.releases.publishing.manifest import canonical_json
from portal.datasets.releases.services import freeze_lines, freeze_release, suggest_version
from portal.facts import Span, read_tags
from tests.datasets.factories import LABELS, make_release, spans_of
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    dataset = empty_dataset(slug="set")
    make_document(dataset, "b", "<p>Net <b>1,</b>200 at March 31, 2025 &amp; 𝟙 later</p>")
    make_document(dataset, "a", "<table><tr><td>Total</td><td>1,200</td></tr></table>")
    return dataset


def freeze(dataset: Dataset, **changes: Any) -> Release:
    request: dict[str, Any] = {
        "version": "1.0.0",
        "items": [GoldItem(document, []) for document in dataset.documents.all()],
        "labels": LABELS,
    }
    return freeze_release(dataset=dataset, **(request | changes))


def faults_of(dataset: Dataset, **changes: Any) -> Sequence[str]:
    with pytest.raises(ReleaseError) as caught:
        freeze(dataset, **changes)
    assert not ReleaseItem.objects.filter(release__dataset=dataset).exists()
    return caught.value.faults


def test_release_holds_gold_facts_and_hashes(dataset: Dataset, organiser: User) -> None:
    b, a = dataset.documents.get(name="b"), dataset.documents.get(name="a")
    release = freeze(
        dataset,
        items=[
            GoldItem(b, spans_of(b, Date=["March 31, 2025"], Number=["1,200"])),
            GoldItem(a, spans_of(a, Number=["1,200"])),
        ],
        notes="First.",
        visibility="private",
        actor=organiser,
    )
    assert (release.item_count, release.fact_count) == (2, 3)
    assert release.labels == ["Number", "Date"]
    assert (release.visibility, release.notes, release.frozen_by) == (
        "private",
        "First.",
        organiser,
    )
    first, second = release.items.all()
    assert (first.name, first.position, second.name, second.position) == ("a", 0, "b", 1)
    assert second.document == b
    assert second.gold["id"] == "b"
    page = read_tags(second.gold["html"], LABELS)
    assert page.canonical.html == b.content.html
    assert second.facts == [
        {"n": 0, "type": "Number", "value": "1,200", "start": 4, "end": 9},
        {"n": 1, "type": "Date", "value": "March 31, 2025", "start": 13, "end": 27},
    ]
    lines = [
        json.dumps(item.gold, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        for item in (first, second)
    ]
    digests = [hashlib.sha256(line.encode()).hexdigest() for line in lines]
    assert [first.sha256, second.sha256] == digests
    manifest = f"{digests[0]}  a\n{digests[1]}  b\n"
    assert release.gold_sha256 == hashlib.sha256(manifest.encode()).hexdigest()


def test_release_does_not_depend_on_the_order_given(dataset: Dataset) -> None:
    items = [GoldItem(document, []) for document in dataset.documents.all()]
    first = freeze(dataset, items=items)
    second = freeze(dataset, items=items[::-1], version="1.0.1")
    assert first.gold_sha256 == second.gold_sha256


def test_release_is_logged(dataset: Dataset, organiser: User) -> None:
    release = freeze(dataset, actor=organiser)
    event = Event.objects.get(verb="freeze_release")
    assert event.actor == organiser
    assert event.data["sha256"] == release.sha256


def test_span_over_cells_is_frozen_without_the_white_space_between(dataset: Dataset) -> None:
    document = make_document(
        dataset, "c", "<table>\n<tr>\n<td>(1,200</td>\n<td>)</td>\n</tr>\n</table>"
    )
    text = document.content.text
    span = Span(text.index("("), text.index(")") + 1, "Number")
    release = freeze(dataset, items=[GoldItem(document, [span])])
    facts = release.items.get().facts
    assert len(facts) == 1
    assert facts[0]["value"].split() == ["(1,200", ")"]


@pytest.mark.parametrize("version", ["1", "1.0", "v1.0.0", "1.0.0+x", "latest", ""])
def test_release_of_a_version_that_is_none_is_refused(dataset: Dataset, version: str) -> None:
    assert "is not a semantic version" in faults_of(dataset, version=version)[0]


@pytest.mark.parametrize("version", ["1.10.0", "1.9.9", "1.10.0-rc.1", "0.1.0"])
def test_release_must_be_greater_than_the_last(dataset: Dataset, version: str) -> None:
    freeze(dataset, version="1.9.0")
    freeze(dataset, version="1.10.0")
    with pytest.raises(ReleaseError, match=r"higher than that of the latest release, 1\.10\.0"):
        freeze(dataset, version=version)


def test_next_version_is_suggested(dataset: Dataset) -> None:
    assert suggest_version(dataset) == "1.0.0"
    freeze(dataset, version="1.9.0")
    freeze(dataset, version="1.10.0")
    assert suggest_version(dataset) == "1.10.1"


def test_bad_spans_are_all_listed_and_nothing_is_written(dataset: Dataset) -> None:
    b, a = dataset.documents.get(name="b"), dataset.documents.get(name="a")
    faults = faults_of(
        dataset,
        items=[
            GoldItem(b, [Span(4, 9, "Number"), Span(8, 12, "Date")]),
            GoldItem(a, [Span(0, 5, "Company"), Span(0, 999, "Number")]),
        ],
    )
    assert [fault.partition(":")[0] for fault in faults] == ["a", "a", "b"]
    assert not Release.objects.exists()


def test_requests_that_make_no_sense_are_refused(dataset: Dataset) -> None:
    own = GoldItem(dataset.documents.get(name="a"), [])
    foreign = GoldItem(make_document(empty_dataset(), "x", "<p>x</p>"), [])
    assert faults_of(dataset, items=[]) == ["a release needs at least one document"]
    assert faults_of(dataset, items=[own, own]) == ["a: appears twice"]
    assert faults_of(dataset, items=[foreign]) == ["x: belongs to another dataset"]
    assert "visibility must be one of public" in faults_of(dataset, visibility="open")[0]
    assert "Table" in faults_of(dataset, labels=["Table"])[0]
    assert faults_of(dataset, labels=[]) == ["a label set needs at least one label"]


def test_a_gold_line_states_the_documents_type(dataset: Dataset) -> None:
    Document.objects.filter(name="a").update(doc_type="tax_form")
    golds = {item.name: item.gold for item in freeze(dataset).items.all()}
    assert golds["a"]["doc_type"] == "tax_form"
    # "other" says nothing.
    assert "doc_type" not in golds["b"]


LINES = {"b": {"id": "b", "response": "1"}, "z": {"id": "z", "response": "2"}}


def test_lines_of_any_benchmark_are_frozen_as_they_are(dataset: Dataset, organiser: User) -> None:
    release = freeze_lines(
        dataset=dataset, version="1.0.0", benchmark="fcmbench", lines=LINES, actor=organiser
    )
    first, second = release.items.all()
    assert (release.benchmark, release.labels, release.has_pages) == ("fcmbench", [], False)
    assert (release.item_count, release.fact_count, release.frozen_by) == (2, 0, organiser)
    assert (first.name, first.gold, first.facts) == ("b", LINES["b"], [])
    assert first.document == dataset.documents.get(name="b")
    assert second.document is None
    assert first.sha256 == hashlib.sha256(canonical_json(LINES["b"]).encode()).hexdigest()
    assert Event.objects.filter(verb="freeze_release", actor=organiser).count() == 1


def test_lines_that_make_no_release_are_refused(dataset: Dataset) -> None:
    with pytest.raises(ReleaseError) as refused:
        freeze_lines(
            dataset=dataset, version="one", benchmark="fcmbench", lines={}, visibility="everybody"
        )
    assert len(refused.value.faults) == 3
    assert not Release.objects.exists()


def test_canonical_json_has_one_spelling() -> None:
    assert canonical_json({"b": "é𝟙", "a": [1, None]}) == '{"a":[1,null],"b":"é𝟙"}'


class TestImmutability:
    """The ORM refuses every change of a frozen row."""

    @pytest.fixture
    def release(self, dataset: Dataset) -> Release:
        return make_release(dataset)

    def test_rows_cannot_be_saved_again(self, release: Release) -> None:
        release.notes = "changed"
        item, content = release.items.all()[0], DocumentContent.objects.all()[0]
        for row in (release, item, content):
            with pytest.raises(ImmutableRowError, match="never changes"):
                row.save()

    def test_rows_cannot_be_deleted(self, release: Release) -> None:
        item, content = release.items.all()[0], DocumentContent.objects.all()[0]
        for row in (release, item, content):
            with pytest.raises(ImmutableRowError):
                row.delete()

    @pytest.mark.parametrize("model", [Release, ReleaseItem, DocumentContent])
    def test_rows_cannot_be_changed_in_bulk(
        self, release: Release, model: type[models.Model]
    ) -> None:
        rows: Any = model._default_manager
        field = model._meta.get_fields()[-1].name
        with pytest.raises(ImmutableRowError):
            rows.all().update(**{field: ""})
        with pytest.raises(ImmutableRowError):
            rows.all().delete()
        with pytest.raises(ImmutableRowError):
            rows.bulk_create([], update_conflicts=True)

    def test_rows_cannot_be_bulk_updated(self, release: Release) -> None:
        release.notes = "changed"
        with pytest.raises(ImmutableRowError):
            Release.objects.bulk_update([release], ["notes"])

    def test_items_cannot_be_added_later(self, release: Release) -> None:
        with pytest.raises(ImmutableRowError):
            release.items.create(position=9, name="x", gold={}, facts=[], sha256="0" * 64)

    def test_related_rows_cannot_take_it_along(self, release: Release, dataset: Dataset) -> None:
        with pytest.raises(models.ProtectedError):
            dataset.delete()
        with pytest.raises(models.ProtectedError):
            Document.objects.get(name="a").delete()

    def test_account_of_who_froze_it_can_go(self, dataset: Dataset, organiser: User) -> None:
        release = make_release(dataset, actor=organiser)
        organiser.delete()
        release = Release.objects.get(pk=release.pk)
        assert release.frozen_by is None
