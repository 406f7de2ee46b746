"""Opening and closing batches, with accuracies computed by hand."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.acceptance.selectors import (
    Candidates,
    audit_file,
    audit_of,
    batch_list,
    get_batch_page,
)
from portal.datasets.acceptance.services import (
    AcceptanceRefused,
    close_batch,
    open_batch,
    put_back_batch,
    save_verdict,
)
from portal.datasets.curation.draws import draw
from portal.datasets.models import Batch, Document, Selection
from tests.datasets.acceptance.factories import (
    FIELDS,
    SCHEMA,
    inspect_all,
    make_batch,
    make_receipt,
    receipts,
    sampled_of,
)
from tests.datasets.factories import make_release
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db


def names(batch: Batch, **filters: Any) -> list[str]:
    found = batch.documents.filter(**filters).order_by("document__name")
    return list(found.values_list("document__name", flat=True))


def test_opening_draws_by_the_seed_and_validates_every_record(organiser: User) -> None:
    dataset = receipts(6)
    make_receipt(dataset, "r900", total="9.00")
    make_document(dataset, "page", "<p>No record</p>")
    batch = make_batch(dataset, sample=3, actor=organiser)
    listed = ["r001", "r002", "r003", "r004", "r005", "r006", "r900"]
    assert names(batch) == listed
    assert names(batch, is_sampled=True) == draw(listed, 3, 7)
    assert (batch.number, batch.sample_size, batch.threshold) == (1, 3, 0.97)
    faults = {row.document.name: row.faults for row in batch.documents.all() if row.faults}
    assert faults == {
        "r900": [
            {
                "field": "total",
                "code": "sum",
                "message": "the items in items add up to 3.00, but total is 9.00",
            }
        ]
    }
    assert Event.objects.get(verb="open_batch").data["documents"] == 7


def test_batches_take_documents_in_no_other_batch(organiser: User) -> None:
    dataset = receipts(5)
    first = make_batch(dataset, sample=2, size=2)
    Document.objects.filter(name="r003").update(state="held", held_reason="blurred")
    second = make_batch(dataset, sample=9)
    assert (names(first), names(second)) == (["r001", "r002"], ["r004", "r005"])
    assert second.number == 2
    assert second.sample_size == 2, "there are no more to draw"
    with pytest.raises(AcceptanceRefused, match="needs a record"):
        make_batch(dataset, sample=1)


def test_candidates_narrow_the_batch_down() -> None:
    dataset = receipts(4)
    Document.objects.filter(name="r002").update(language="zh")
    Document.objects.filter(name="r003").update(doc_type="tax_form")
    chosen = Selection.objects.create(dataset=dataset, title="Some", seed=1, spec={})
    chosen.documents.set(Document.objects.filter(name="r004"))
    opened = [
        make_batch(dataset, sample=1, candidates=candidates)
        for candidates in (
            Candidates(language="zh"),
            Candidates(doc_type="tax_form"),
            Candidates(selection=chosen),
        )
    ]
    assert [names(batch) for batch in opened] == [["r002"], ["r003"], ["r004"]]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"schema": {"fields": []}}, "schema", "at least one field"),
        ({"schema": [{"name": "x" * 81}]}, "schema", "up to 80 printable"),
        ({"schema": [{"name": "a\nb"}]}, "schema", "printable"),
        ({"schema": [{"name": "a", "choices": ["\0"]}]}, "schema", "cannot be stored"),
        ({"schema": "receipts?"}, "schema", "must be an object"),
        ({"threshold": 0}, "threshold", "above 0"),
        ({"threshold": 1.5}, "threshold", "above 0"),
    ],
)
def test_batches_that_make_no_sense_are_refused(
    changes: dict[str, Any], field: str, message: str
) -> None:
    dataset = receipts(1)
    with pytest.raises(AcceptanceRefused, match=message) as refusal:
        open_batch(
            **{
                "dataset": dataset,
                "schema": SCHEMA,
                "sample_size": 1,
                "seed": 1,
                "actor": None,
                **changes,
            }
        )
    assert refusal.value.field == field
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("sample", "wrong", "state"),
    # 33 / 34 = 97.06%, 32 / 33 = 96.97%, 97 / 100 = 97%.
    [(34, 1, "accepted"), (33, 1, "rejected"), (34, 2, "rejected")],
)
def test_threshold_decides(organiser: User, sample: int, wrong: int, state: str) -> None:
    batch = make_batch(receipts(sample), sample=sample)
    inspect_all(batch, organiser, {"total": wrong})
    closed = close_batch(batch=batch, actor=organiser)
    assert closed.state == closed.report["state"] == state
    total = next(row for row in closed.report["fields"] if row["field"] == "total")
    assert (total["right"], total["n"]) == (sample - wrong, sample)
    assert closed.report["overall"]["accuracy"] == (3 * sample - wrong) / (3 * sample)
    assert len(closed.report["errors"]) == wrong


def test_open_batch_is_not_closed_before_its_inspection_ends(organiser: User) -> None:
    batch = make_batch(receipts(3), sample=3)
    inspect_all(batch, organiser, but=1)
    with pytest.raises(
        AcceptanceRefused, match="3 fields of the sample are not inspected"
    ) as refusal:
        close_batch(batch=batch, actor=organiser)
    assert refusal.value.code == "unfinished"
    assert get_batch_page(batch).may_close is False
    assert audit_of(batch)["state"] == "incomplete"


def test_lost_batch_is_rejected_before_its_inspection_ends(organiser: User) -> None:
    batch = make_batch(receipts(3), sample=3)
    save_verdict(sampled=sampled_of(batch), field="total", is_right=False, actor=organiser)
    assert get_batch_page(batch).may_close is True
    closed = close_batch(batch=batch, actor=organiser)
    assert (closed.state, closed.report["failing"]) == ("rejected", ["total"])
    assert closed.report["overall"]["missing"] == 8


def test_rejected_batch_is_held_back_whole_and_can_be_put_back(organiser: User) -> None:
    dataset = receipts(4)
    batch = make_batch(dataset, sample=2)
    Document.objects.filter(name="r004").update(state="held", held_reason="blurred")
    inspect_all(batch, organiser, {"seller": 1})
    batch = close_batch(batch=batch, actor=organiser)
    reasons = dict(dataset.documents.values_list("name", "held_reason"))
    reason = "batch 1 was rejected; below the required accuracy: seller"
    assert reasons == {"r001": reason, "r002": reason, "r003": reason, "r004": "blurred"}
    assert batch_list(dataset).waiting == 0
    assert put_back_batch(batch=batch, actor=organiser) == 3
    assert names(make_batch(dataset, sample=1)) == ["r001", "r002", "r003"]
    assert put_back_batch(batch=batch, actor=organiser) == 0


def test_accepted_batch_holds_nothing_back_and_stays_closed(organiser: User) -> None:
    dataset = receipts(2)
    batch = make_batch(dataset, sample=2)
    inspect_all(batch, organiser)
    close_batch(batch=batch, actor=organiser)
    assert set(dataset.documents.values_list("state", flat=True)) == {"active"}
    with pytest.raises(AcceptanceRefused, match="Batch 1 is already accepted"):
        close_batch(batch=batch, actor=organiser)
    with pytest.raises(AcceptanceRefused, match="documents of a rejected batch"):
        put_back_batch(batch=batch, actor=organiser)
    assert Event.objects.filter(verb="close_batch").count() == 1


def test_accuracy_is_tracked_over_accepted_batches(organiser: User) -> None:
    dataset = receipts(50)
    for size, wrong in ((40, {"total": 1}), (5, {"seller": 5}), (5, {})):
        batch = make_batch(dataset, sample=size, size=size)
        inspect_all(batch, organiser, wrong)
        close_batch(batch=batch, actor=organiser)
    found = batch_list(dataset)
    assert [row.state for row in found.closed] == ["accepted", "rejected", "accepted"]
    # 119 of 120 and 15 of 15; the rejected batch, 10 of 15, does not count.
    assert (found.accepted.right, found.accepted.n) == (134, 135)
    assert [row.overall.right for row in found.rows] == [15, 10, 119]


def test_report_names_wrong_values_and_faults(organiser: User) -> None:
    dataset = receipts(1)
    make_receipt(dataset, "r002", total="9.00", seller="=A|B")
    batch = make_batch(dataset, sample=2)
    inspect_all(batch, organiser)
    given = {"correct_value": "Ada's", "comment": "a sum of two slips"}
    save_verdict(
        sampled=sampled_of(batch, 1), field="seller", is_right=False, actor=organiser, **given
    )
    report = audit_of(batch)
    assert report["errors"] == [{"document": "r002", "field": "seller", "value": "=A|B", **given}]
    assert report["validation"]["counts"] == [{"field": "total", "code": "sum", "count": 1}]
    markdown = audit_file(batch, "markdown").content
    assert "# Audit report: batch 1 of Receipts" in markdown
    assert "| seller | 1 | 2 | 50.0% | 9.5–90.5% |" in markdown
    assert r"| r002 | seller | =A\|B | Ada's | a sum of two slips |" in markdown
    assert (
        "error,r002,seller,,,,,,,,'=A|B,Ada's,a sum of two slips"
        in audit_file(batch, "csv").content
    )


def test_schema_can_come_from_the_records() -> None:
    from portal.datasets.acceptance.selectors import suggested_schema

    dataset = receipts(2)
    found: Any = suggested_schema(dataset)
    fields = {field["name"]: field for field in found["fields"]}
    parts = fields["items"].pop("items")
    # PostgreSQL keeps no order of a record's fields.
    assert sorted(part["name"] for part in parts) == ["amount", "what"]
    assert {part["kind"] for part in parts} == {"text"}
    assert fields == {
        "seller": {"name": "seller", "kind": "text"},
        "total": {"name": "total", "kind": "text"},
        "items": {"name": "items", "kind": "list"},
    }


def test_list_of_batches_asks_as_often_for_many_as_for_one(
    organiser: User, django_assert_num_queries: Any
) -> None:
    dataset = receipts(6)
    for turn in range(3):
        batch = make_batch(dataset, sample=2, size=2)
        inspect_all(batch, organiser, {"total": turn})
        close_batch(batch=batch, actor=organiser)
        with django_assert_num_queries(7):
            batch_list(dataset)


def test_batch_page_asks_as_often_for_a_large_sample(
    organiser: User, django_assert_max_num_queries: Any
) -> None:
    for count in (2, 9):
        dataset = receipts(count, slug=f"of-{count}")
        batch = make_batch(dataset, sample=count)
        inspect_all(batch, organiser, {"total": 1})
        with django_assert_max_num_queries(9):
            page = get_batch_page(batch)
            assert len(list(page.page)) == count


def test_documents_of_a_page_dataset_have_nothing_to_accept() -> None:
    dataset = empty_dataset()
    make_document(dataset, "a", "<p>1,200</p>")
    make_release(dataset)
    with pytest.raises(AcceptanceRefused, match="needs a record"):
        make_batch(dataset, sample=1)
    assert [field["name"] for field in SCHEMA["fields"]] == FIELDS
