"""Importing labels: placed, moved or refused, never replacing started work."""

import json

import pytest

from annotation.campaigns.services import close_campaign
from annotation.errors import Refused
from annotation.exchange.selectors import pseudonym
from annotation.models import Assignment, Campaign, CampaignImport, GoldSpan, Revision, Span
from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.models import Document
from tests.annotation.factories import document_of, make_campaign, save, spans_in, submit, work_of

from .campaign_files import brought_in, empty_campaign, line, quotes, stages, task, zipped

pytestmark = pytest.mark.django_db


CORRECT = "Some documents were not imported. Correct the errors below, and import the file again."


def test_work_is_submitted_as_its_annotators(campaign: Campaign, ann: User, lead: User) -> None:
    done = brought_in(campaign, line(campaign), "jsonl", "annotations", ann, actor=lead)
    assert (done.state, done.documents, done.spans, done.moved) == ("done", 1, 1, 0)
    work = work_of(ann, campaign)
    assert (work.state, work.revision) == ("submitted", 1)
    assert quotes(ann, campaign) == ["1,200"]
    assert work.first_submission.spans == [[16, 21, "Number", "1200", "plain"]]
    revision = Revision.objects.get(assignment=work)
    assert (revision.author, revision.note) == (lead, "imported labels.jsonl")
    assert Event.objects.get(verb="import_labels").data["annotator"] == ann.pk


def test_the_second_import_settles_the_document(campaign: Campaign, ann: User, ben: User) -> None:
    brought_in(campaign, line(campaign), "jsonl", "annotations", ann)
    assert stages(campaign) == ["annotation", "annotation"]
    brought_in(campaign, line(campaign), "jsonl", "annotations", ben)
    assert stages(campaign) == ["gold", "annotation"]
    assert GoldSpan.objects.get().origin == "agreed"


def test_work_of_label_studio_is_placed_by_the_text_of_its_page(
    campaign: Campaign, ann: User
) -> None:
    """Tasks have neither names nor hashes. Both documents differ in their last line."""
    data = json.dumps([task(campaign)]).encode()
    done = brought_in(campaign, data, "labelstudio", "annotations", ann)
    assert (done.documents, done.spans, done.moved, done.faults) == (1, 1, 0, [])
    assert Span.objects.get().key == "Xy1"


def test_drifted_labels_are_found_and_reported(campaign: Campaign, ann: User) -> None:
    drifted = task(campaign, startOffset=2, endOffset=7, text="(310)", start="/p[1]/text()[2]",
                   end="/p[1]/text()[2]")  # fmt: skip
    done = brought_in(campaign, json.dumps([drifted]).encode(), "labelstudio", "annotations", ann)
    assert (done.spans, done.moved) == (1, 1)
    assert done.faults == ["task 9, annotation 31 (page-001): result Xy1 '(310)': moved by 12"]
    assert quotes(ann, campaign) == ["(310)"]


def test_unplaced_labels_are_reported_and_left_out_when_confirmed(
    campaign: Campaign, ann: User
) -> None:
    data = task(campaign)
    results = data["annotations"][0]["result"]
    results.append(results[0] | {"id": "Xy2", "value": results[0]["value"] | {"text": "9,999"}})
    results.append({"id": "Xy3", "type": "choices", "value": {"choices": ["good"]}})
    data["annotations"].append({"id": 32, "was_cancelled": True, "result": []})
    other = {"id": 10, "data": {"name": "page-007"}, "annotations": [{"id": 1, "result": []}]}
    file = json.dumps([data, other, 5]).encode()
    done = brought_in(campaign, file, "labelstudio", "annotations", ann, accept_unplaced=1)
    assert (done.documents, done.spans, done.rejected, done.fault_count) == (1, 1, 2, 6)
    assert sorted(done.faults) == [
        CORRECT,
        "labels.json: item 3: not imported: [0]: must be an object",
        "task 10, annotation 1 (page-007): not imported: the dataset has no document named "
        "'page-007'",
        "task 9, annotation 31 (page-001): result Xy2 '9,999': its text is not in the document",
        "task 9, annotation 31: ignored 1 results of type choices, which are not spans",
        "task 9, annotation 32: skipped, because its annotator cancelled the task",
    ]


def _tasks(campaign: Campaign, *labels: str) -> bytes:
    """A task with a result for each label. Later results are marks of “(310)”."""
    data = task(campaign)
    results = data["annotations"][0]["result"]
    for number, label in enumerate(labels):
        value = results[0]["value"] | {"hypertextlabels": [label]}
        if number:
            place = {"startOffset": 19, "endOffset": 24, "text": "(310)", "globalOffsets": None}
            value |= place | {"start": "/p[1]/text()[2]", "end": "/p[1]/text()[2]"}
        results.append({"id": f"r{number}", "type": "hypertextlabels", "value": value})
    return json.dumps([data | {"annotations": [{"id": 31, "result": results[1:]}]}]).encode()


@pytest.mark.parametrize("layer", ["gold", "annotations"])
@pytest.mark.parametrize(
    ("labels", "unplaced"), [(["NUM"], 1), (["NUM", "DATE"], 2), (["Number", "Money"], 1)]
)
def test_a_document_with_unplaced_labels_waits_for_the_corrected_file(
    campaign: Campaign, ann: User, layer: str, labels: list[str], unplaced: int
) -> None:
    annotator = ann if layer == "annotations" else None
    file = _tasks(campaign, *labels)
    for wrong in (0, unplaced + 1):
        done = brought_in(campaign, file, "labelstudio", layer, annotator, accept_unplaced=wrong)
        assert (done.documents, done.spans, done.moved, done.rejected) == (0, 0, 0, 1)
        counted = "1 label" if unplaced == 1 else f"{unplaced} labels"
        assert done.faults[:3] == [
            CORRECT,
            f"No labels were left out: you confirmed {wrong}, but {counted} of the documents that "
            "could be read have no place."
            if wrong
            else "To import documents without their labels that have no place, confirm that "
            f"{counted} will be left out.",
            f"task 9, annotation 31 (page-001): not imported: {unplaced} of {len(labels)} labels "
            "have no place (listed below)",
        ]
    assert work_of(ann, campaign).state == "assigned"
    assert stages(campaign) == ["annotation", "annotation"]
    good = brought_in(campaign, _tasks(campaign, "Number"), "labelstudio", layer, annotator)
    assert (good.documents, good.spans, good.faults) == (1, 1, [])


@pytest.mark.parametrize("layer", ["gold", "annotations"])
def test_confirmed_labels_are_left_out(campaign: Campaign, ann: User, layer: str) -> None:
    annotator = ann if layer == "annotations" else None
    file = _tasks(campaign, "Number", "Money")
    done = brought_in(campaign, file, "labelstudio", layer, annotator, accept_unplaced=1)
    assert (done.documents, done.spans, done.fault_count) == (1, 1, 1)


def test_labels_of_images_have_no_place(campaign: Campaign) -> None:
    data = task(campaign)
    data["annotations"][0]["result"] = [{"id": "b", "type": "rectanglelabels", "value": {}}]
    done = brought_in(campaign, json.dumps([data]).encode(), "labelstudio", "gold")
    assert "1 label will be left out" in done.faults[1]
    assert stages(campaign) == ["annotation", "annotation"]


def test_a_place_is_not_taken_over_by_work_with_unplaced_labels(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben, cleo], lead=lead, overlap=2)
    before = set(Assignment.objects.values_list("annotator", flat=True))
    (outsider,) = [u for u in (ann, ben, cleo) if u.pk not in before]
    file = _tasks(campaign, "NUM")
    assert brought_in(campaign, file, "labelstudio", "annotations", outsider).documents == 0
    assert set(Assignment.objects.values_list("annotator", flat=True)) == before


def test_the_annotators_own_work_is_taken_from_a_file_of_several(
    campaign: Campaign, ann: User, ben: User
) -> None:
    file = line(campaign, 1, "x@example.org") + line(campaign, 1, pseudonym(ann.pk))
    file += line(campaign, 2, "BEN@example.org", ("Number", "(310)"))
    done = brought_in(campaign, file, "jsonl", "annotations", ann)
    assert done.documents == 1
    assert done.faults == [
        "1 documents have no labels by Ann (ann@example.org) in the file. Its annotators are "
        f"BEN@example.org, {pseudonym(ann.pk)}, x@example.org"
    ]
    done = brought_in(campaign, file, "jsonl", "annotations", ben)
    assert quotes(ben, campaign, 2) == ["(310)"]


def test_a_place_that_is_not_begun_is_taken_over(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    """The imported annotator replaces one who has not started the page."""
    campaign = make_campaign([ann, ben, cleo], lead=lead, overlap=2)
    (outsider,) = [u for u in (ann, ben, cleo) if not Assignment.objects.filter(annotator=u)]
    brought_in(campaign, line(campaign), "jsonl", "annotations", outsider)
    work = Assignment.objects.filter(campaign_document__campaign=campaign).order_by("id")
    assert [each.state for each in work] == ["assigned", "submitted"]
    assert work[1].annotator == outsider


def test_work_that_is_begun_is_never_replaced(
    campaign: Campaign, ann: User, ben: User, cleo: User
) -> None:
    save(work_of(ann, campaign), ("Date", "March 31, 2025"))
    submit(work_of(ben, campaign), ("Date", "March 31, 2025"))
    done = brought_in(campaign, line(campaign), "jsonl", "annotations", ann)
    assert done.documents == 0
    assert done.faults == [
        CORRECT,
        "labels.jsonl:1 (page-001): not imported: Ann has started it; an import does not replace "
        "work",
    ]
    gold = brought_in(campaign, line(campaign), "jsonl", "gold")
    assert gold.faults == [
        CORRECT,
        "labels.jsonl:1 (page-001): not imported: an annotator has started it; gold would replace "
        "their work",
    ]
    assert quotes(ann, campaign) == quotes(ben, campaign) == ["March 31, 2025"]


def test_gold_replaces_work_that_is_not_started(campaign: Campaign) -> None:
    brought_in(campaign, line(campaign), "jsonl", "gold")
    assert stages(campaign) == ["gold", "annotation"]
    assert not document_of(campaign).assignments.exists()
    assert GoldSpan.objects.get().origin == "imported"
    again = brought_in(campaign, line(campaign), "jsonl", "gold")
    assert again.faults == [
        CORRECT,
        "labels.jsonl:1 (page-001): not imported: it is already in gold, and an import does not "
        "replace it",
    ]


def test_gold_goes_into_a_draft_as_well(campaign: Campaign) -> None:
    draft = empty_campaign(campaign)
    text = document_of(campaign).document.content.text
    row = {"name": "page-001", "spans": spans_in(text, ("Number", "1,200"))}
    done = brought_in(draft, json.dumps(row).encode(), "jsonl", "gold")
    assert (done.documents, stages(draft)) == (1, ["gold"])


def test_gold_of_label_studio_is_the_ground_truth_or_the_only_annotation(
    campaign: Campaign,
) -> None:
    data = task(campaign)
    first = data["annotations"][0]
    data["annotations"] = [first, {"id": 2, "ground_truth": True, "result": []}]
    done = brought_in(campaign, json.dumps(data).encode(), "labelstudio", "gold")
    assert (done.documents, done.spans) == (1, 0)
    two = task(campaign)
    two["data"] = {"name": "page-002"}
    two["annotations"] = [first, first]
    done = brought_in(campaign, json.dumps(two).encode(), "labelstudio", "gold")
    assert done.faults[1] == (
        "task 9, annotation 31 (page-002): not imported: the file has 2 annotations of it, none of "
        "them marked as gold"
    )


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        (b'{"name"', "jsonl", "labels.jsonl:1: not imported: the line: is not JSON"),
        (b"\xff\n", "jsonl", "labels.jsonl:1: not imported: invalid UTF-8 at byte 1"),
        (
            b'{"name": "p", "spans": []}',
            "jsonl",
            "labels.jsonl:1 (p): not imported: the dataset has no document named 'p'",
        ),
        (
            b'{"name": "page-001", "text_sha256": "ab", "spans": []}',
            "jsonl",
            "labels.jsonl:1 (page-001): not imported: text_sha256: ab is another text; page-001",
        ),
        (
            zipped({"page-001.html": b"<p>Another <Number>1</Number></p>"}),
            "tags",
            "page-001.html: not imported: the text without tags differs from the document page-001",
        ),
        (
            zipped({"x/page-001.html": b"<p><Number>1</p>"}),
            "tags",
            "x/page-001.html: not imported: line 1, column 4: <number> is never closed",
        ),
    ],
)
def test_a_document_that_cannot_be_placed_is_named(
    campaign: Campaign, content: bytes, form: str, message: str
) -> None:
    done = brought_in(campaign, content, form, "gold")
    assert (done.state, done.documents, done.rejected, done.fault_count) == ("done", 0, 1, 2)
    assert done.faults[0] == CORRECT
    assert done.faults[1].startswith(message)


def test_labels_and_values_are_checked_as_in_a_save(campaign: Campaign, ann: User) -> None:
    data = line(campaign).replace(b'"Number"', b'"Money"')
    done = brought_in(campaign, data, "jsonl", "annotations", ann)
    assert "has the label 'Money', not one of Number, Date" in done.faults[-1]
    assert work_of(ann, campaign).state == "assigned"


def test_a_document_given_twice_counts_once(campaign: Campaign, ann: User) -> None:
    done = brought_in(campaign, line(campaign) * 2, "jsonl", "annotations", ann)
    assert (done.documents, done.faults) == (
        1, ["labels.jsonl:2: page-001 is already in labels.jsonl:1"],
    )  # fmt: skip


def test_a_document_given_twice_with_other_labels_is_not_imported(
    campaign: Campaign, ann: User
) -> None:
    data = line(campaign) + line(campaign, 1, "", ("Number", "(310)"))
    done = brought_in(campaign, data, "jsonl", "annotations", ann)
    assert (done.documents, done.faults) == (
        0,
        [
            CORRECT,
            "labels.jsonl:1 (page-001): not imported: the file has other labels of it in "
            "labels.jsonl:2; keep one of them",
        ],
    )
    assert done.rejected == 1
    assert work_of(ann, campaign).state == "assigned"


BROKEN: list[tuple[str, str, dict[str, object], str]] = [
    ("Number", "1,200", {"quote": "9"}, "spans[0].quote: the text at characters"),
    ("Number", "(310)", {"label": "Money"}, "has the label 'Money', not one of Number, Date"),
    ("Date", "March 31, 2025", {"sign": 5}, "spans[2].value: this field is missing"),
]


@pytest.mark.parametrize("layer", ["gold", "annotations"])
def test_every_label_without_a_place_is_reported_and_can_be_left_out(
    campaign: Campaign, ann: User, layer: str
) -> None:
    annotator = ann if layer == "annotations" else None
    text = document_of(campaign).document.content.text
    spans = spans_in(text, *((label, quote) for label, quote, *_ in BROKEN), ("Number", "310"))
    for span, (*_, change, _message) in zip(spans, BROKEN, strict=False):
        span |= change
    spans[-1] |= {"start": 0, "end": 3, "quote": text[:3]}
    file = json.dumps({"name": "page-001", "spans": spans}).encode()
    for accepted in (0, 2):
        done = brought_in(campaign, file, "jsonl", layer, annotator, accept_unplaced=accepted)
        assert (done.documents, done.rejected) == (0, 1)
        assert done.faults[2].endswith("not imported: 3 of 4 labels have no place (listed below)")
        notes = done.faults[3:]
        assert len(notes) == 3
        for *_, message in BROKEN:
            assert any(message in note for note in notes), (message, notes)
    done = brought_in(campaign, file, "jsonl", layer, annotator, accept_unplaced=3)
    assert (done.documents, done.spans, done.rejected, done.fault_count) == (1, 1, 0, 3)


def test_all_reasons_of_a_document_are_given(campaign: Campaign, ann: User) -> None:
    save(work_of(ann, campaign), ("Number", "1,200"))
    file = line(campaign).replace(b'"Number"', b'"Money"')
    done = brought_in(campaign, file, "jsonl", "gold")
    assert done.faults[2] == (
        "labels.jsonl:1 (page-001): not imported: an annotator has started it; gold would replace "
        "their work; 1 of 1 labels have no place (listed below)"
    )


def _as_named(campaign: Campaign, name: str, form: str) -> bytes:
    """The labels of page-001 under another name."""
    content = document_of(campaign).document.content
    if form == "tags":
        return zipped({f"{name}.html": content.html.encode()})
    if form == "jsonl":
        sha = document_of(campaign).document.text_sha256
        return json.dumps({"name": name, "text_sha256": sha, "spans": []}).encode()
    return json.dumps([task(campaign) | {"data": {"name": name, "html": content.html}}]).encode()


@pytest.mark.parametrize("form", ["tags", "jsonl", "labelstudio"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nosuch", "the dataset has no document named 'nosuch', but the text is that of page-001"),
        ("page-002", "the name is page-002, but the text is that of page-001"),
    ],
)
def test_a_text_under_another_name_is_not_imported(
    campaign: Campaign, form: str, name: str, reason: str
) -> None:
    done = brought_in(campaign, _as_named(campaign, name, form), form, "gold")
    assert (done.documents, done.rejected) == (0, 1)
    assert f"not imported: {reason}; correct the name in the file" in done.faults[1]
    assert stages(campaign) == ["annotation", "annotation"]


def test_a_number_of_another_tool_is_not_a_name(campaign: Campaign) -> None:
    numbered = task(campaign)
    numbered["data"]["id"] = "a17"
    done = brought_in(campaign, json.dumps([numbered]).encode(), "labelstudio", "gold")
    assert (done.documents, done.faults) == (1, [])


def test_a_text_of_several_documents_needs_a_name(campaign: Campaign) -> None:
    first = document_of(campaign).document
    Document.objects.filter(name="page-002").update(text_sha256=first.text_sha256)
    file = json.dumps({"text_sha256": first.text_sha256, "spans": []}).encode()
    done = brought_in(campaign, file, "jsonl", "gold")
    assert "2 documents have this text; add the name to the file" in done.faults[1]


@pytest.mark.parametrize(
    ("form", "layer", "who", "message"),
    [
        ("jsonl", "annotations", None, "Select the annotator of the labels."),
        ("jsonl", "annotations", "Lea", "Lea is not an annotator of this campaign."),
        ("jsonl", "", None, "Import the labels as one of: annotations, gold."),
        ("full", "gold", None, "You can import a whole campaign only into a draft."),
    ],
)
def test_what_cannot_be_brought_in_is_refused_at_once(
    campaign: Campaign, lead: User, form: str, layer: str, who: str | None, message: str
) -> None:
    with pytest.raises(Refused) as refusal:
        brought_in(campaign, b"", form, layer, lead if who else None)
    assert refusal.value.message == message
    assert not CampaignImport.objects.exists()


def test_a_closed_campaign_takes_nothing(campaign: Campaign, ann: User, lead: User) -> None:
    close_campaign(campaign=campaign, actor=lead)
    for layer in ("gold", "annotations"):
        with pytest.raises(Refused) as refusal:
            brought_in(campaign, line(campaign), "jsonl", layer, ann)
        assert refusal.value.code == "state"
