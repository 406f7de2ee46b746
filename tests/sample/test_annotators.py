"""The sample annotators' labels: valid, mostly in agreement, with some open cases and tasks."""

import json
from itertools import combinations
from typing import Any

import pytest

from portal.facts import Span, canonicalise, check_spans
from sample.generator.annotators import LABELS, Change, candidates, drawn_slips
from sample.generator.build import DATA
from sample.people import PEOPLE
from tests.many import together

FILE = json.loads((DATA / "annotators.json").read_text(encoding="utf-8"))
DOCUMENTS: list[dict[str, Any]] = FILE["documents"]


def spans_of(assignment: dict[str, Any]) -> list[Span]:
    return [Span(mark["start"], mark["end"], mark["label"]) for mark in assignment["spans"]]


def kinds_of(document: dict[str, Any]) -> list[str]:
    return [slip["kind"] for slip in document["slips"]]


@together("document", DOCUMENTS)
def test_spans_slice_to_their_quotes_and_do_not_overlap(document: dict[str, Any]) -> None:
    page = (DATA / "pages" / f"{document['id']}.html").read_text(encoding="utf-8")
    canonical = canonicalise(page)
    assert canonical.text_sha256 == document["text_sha256"]
    for assignment in document["assignments"]:
        for mark in assignment["spans"]:
            is_quoted = canonical.text[mark["start"] : mark["end"]] == mark["quote"]
            assert is_quoted or "drift" in kinds_of(document)
        assert check_spans(canonical.text, spans_of(assignment), LABELS) == []


def test_annotators_are_people_of_the_sample_site() -> None:
    assert FILE["sample"] is True
    assert set(FILE["annotators"]) <= {person.key for person in PEOPLE}
    for document in DOCUMENTS:
        team = {a["annotator"] for a in document["assignments"]}
        assert team <= set(FILE["annotators"])
        labelled = document["stage"] == "annotation" and document["purpose"] == "work"
        size = len(FILE["annotators"]) if document["purpose"] == "calibration" else 0
        assert len(team) == (2 if labelled else size)


def test_every_pair_shares_a_finished_page_so_that_kappa_has_a_full_matrix() -> None:
    finished = {
        frozenset(a["annotator"] for a in document["assignments"])
        for document in DOCUMENTS
        if [a["state"] for a in document["assignments"]] == ["submitted", "submitted"]
    }
    assert finished == {frozenset(pair) for pair in combinations(FILE["annotators"], 2)}


def test_twelve_pages_of_pairs_are_finished_and_two_wait_for_their_second_annotator() -> None:
    states = [[a["state"] for a in document["assignments"]] for document in DOCUMENTS]
    assert states.count(["submitted", "submitted"]) == 12
    assert states.count(["submitted"] * 4) == 1
    assert states.count(["submitted", "in_progress"]) == 1
    assert states.count(["submitted", "assigned"]) == 1


def test_annotators_differ_exactly_where_slips_are_named() -> None:
    for document in DOCUMENTS:
        if [a["state"] for a in document["assignments"]] != ["submitted", "submitted"]:
            continue
        first, second = (set(spans_of(a)) for a in document["assignments"])
        kinds = [kind for kind in kinds_of(document) if kind not in ("thousands", "drift")]
        one_sided = sum(kind in ("missed", "section") for kind in kinds)
        assert len(first ^ second) == 2 * len(kinds) - one_sided
    assert sum(bool(document["slips"]) for document in DOCUMENTS) == 9


def test_value_slip_gives_a_value_of_its_own() -> None:
    (document,) = (document for document in DOCUMENTS if "thousands" in kinds_of(document))
    (mark,) = (m for a in document["assignments"] for m in a["spans"] if "value" in m)
    assert mark["value"] == mark["quote"].replace(",", "") + "000"


def test_some_pages_wait_for_screening_and_some_hold_known_gold() -> None:
    assert [document["stage"] for document in DOCUMENTS].count("screening") == 2
    assert [document["stage"] for document in DOCUMENTS].count("excluded") == 1
    assert [document["purpose"] for document in DOCUMENTS].count("qualification") == 2


TEXT = "Section 7.02 Loss of $ (1,204) or $7.5% ended June 30, 2026 and 2025"


def span_of(quote: str, label: str) -> Span:
    start = TEXT.index(quote)
    return Span(start, start + len(quote), label)


@pytest.mark.parametrize(
    ("kind", "fact", "label", "becomes"),
    [
        ("parenthesis", "(1,204)", "Number", "(1,204"),
        ("percent", "7.5%", "Number", "7.5"),
        ("currency", "7.5%", "Number", "$7.5%"),
        ("connective", "June 30, 2026", "Date", "ended June 30, 2026"),
        ("year", "2025", "Date", "2025"),
    ],
)
def test_slip_changes_the_fact_as_its_name_says(
    kind: str, fact: str, label: str, becomes: str
) -> None:
    facts = [
        span_of("(1,204)", "Number"),
        span_of("7.5%", "Number"),
        span_of("June 30, 2026", "Date"),
        Span(len(TEXT) - 4, len(TEXT), "Date"),
    ]
    (change,) = candidates(kind, TEXT, facts)
    assert change.fields == ()
    assert change.removed in facts
    assert change.added is not None
    assert TEXT[change.removed.start : change.removed.end] == fact
    assert change.removed.label == label
    assert TEXT[change.added.start : change.added.end] == becomes
    assert (change.added.label == "Number") == (label == "Number" or kind == "year")


def test_section_slip_marks_the_number_of_a_section() -> None:
    assert candidates("section", TEXT, []) == [Change(None, span_of("7.02", "Number"))]


def test_slip_without_a_matching_fact_is_refused() -> None:
    entry = {"id": "x", "slips": [["annotator1", "year"]]}
    with pytest.raises(ValueError, match="x: nothing on the page for a slip of kind 'year'"):
        drawn_slips(entry, TEXT, [])
