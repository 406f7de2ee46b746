"""Tasks of Label Studio: written as it writes them itself, and read back with nothing lost."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from portal.facts import (
    FactSpan,
    LabelledBy,
    Page,
    ReadingError,
    RefusedHtml,
    Span,
    Task,
    canonical_text,
    canonicalise,
    label_config,
    place_regions,
    read_tasks,
    read_value,
    write_task,
)
from portal.facts.labelstudio.tasks import Region
from tests.facts.strategies import PAGES, spans_over
from tests.many import drawn

LABELS = ("Number", "Date", "FinancialConcept")
HTML = "<p>\U0001f4b6 Net (1,2<b>00)</b><br>in 2025</p>"


def fact(html: str, quote: str, label: str = "Number", key: str = "") -> FactSpan:
    start = canonical_text(html).index(quote)
    value = read_value(quote, label)
    return FactSpan(key or f"k{start}", label, start, start + len(quote), quote, *value)


def tasks_of(data: object) -> list[Task]:
    """The data after writing and reading it as JSON."""
    found = []
    for task in read_tasks(json.loads(json.dumps(data))):
        assert isinstance(task, Task)
        found.append(task)
    return found


def test_a_span_is_written_as_label_studio_does() -> None:
    spans = [fact(HTML, "(1,200)"), fact(HTML, "2025", "Date")]
    task = write_task(7, {"name": "p1"}, HTML, [LabelledBy(3, 2, spans, seconds=60)])
    assert task["data"] == {"html": HTML, "name": "p1"}
    (annotation,) = task["annotations"]
    assert {key: annotation[key] for key in ("id", "completed_by", "lead_time")} == {
        "id": 3,
        "completed_by": 2,
        "lead_time": 60,
    }
    number, value, sign, date, year = annotation["result"]
    assert number == {
        "id": "k6",
        "to_name": "html",
        "origin": "manual",
        "from_name": "labels",
        "type": "hypertextlabels",
        "value": {
            "start": "/p[1]/text()[1]",
            "end": "/p[1]/b[1]/text()[1]",
            "startOffset": 6,
            "endOffset": 3,
            "globalOffsets": {"start": 6, "end": 13},
            "text": "(1,200)",
            "hypertextlabels": ["Number"],
        },
    }
    assert (value["from_name"], value["value"]["text"]) == ("value", ["-1200"])
    assert (sign["from_name"], sign["value"]["text"]) == ("sign", ["parentheses"])
    # Behind the line break the offsets over the page are one ahead of those in the text.
    assert date["value"]["globalOffsets"] == {"start": 17, "end": 21}
    assert (year["type"], year["value"]["text"]) == ("textarea", ["2025"])


def test_the_interface_shows_every_label_and_what_they_mean() -> None:
    config = label_config(LABELS)
    assert config.count("<Label value=") == 3
    assert '<TextArea name="sign" toName="html" perRegion="true"' in config
    assert '<HyperText name="html" value="$html"/>' in config


@drawn(html=PAGES, data=st.data(), examples=150)
def test_spans_come_back_from_a_task(html: str, data: Any) -> None:
    """Astral and combining characters, entities, nested tables, preformatted text."""
    try:
        canonical = canonicalise(html)
    except RefusedHtml:
        return
    spans = data.draw(spans_over(canonical.text, LABELS))
    facts = [_fact_at(canonical.text, span) for span in spans]
    (task,) = tasks_of([write_task(1, {}, canonical.html, [LabelledBy(1, 1, facts)])])
    placement = place_regions(Page(canonical.html), task.annotations[0].regions, LABELS)
    assert placement.spans == facts
    assert placement.moved == placement.unplaced == placement.remarks == []


def _fact_at(text: str, span: Span) -> FactSpan:
    quote = text[span.start : span.end]
    place = span.start, span.end, quote
    return FactSpan(f"k{span.start}", span.label, *place, *read_value(quote, span.label))


def test_values_of_ones_own_and_empty_ones_come_back() -> None:
    own = FactSpan("a", "Number", 6, 13, "(1,200)", "1200000", "plain")
    none = FactSpan("b", "Date", 16, 20, "2025", "", "")
    assert canonical_text(HTML)[16:20] == "2025"
    (task,) = tasks_of(write_task(1, {}, HTML, [LabelledBy(1, 1, [own, none])]))
    placement = place_regions(Page(HTML), task.annotations[0].regions, LABELS)
    assert placement.spans == [own, none]


def test_who_annotated_is_told_by_our_own_names_by_email_or_by_number() -> None:
    result: dict[str, Any] = {"result": []}
    data = {
        "id": 5,
        "data": {"annotators": {"1": "p_x"}},
        "annotations": [
            result | {"completed_by": 1},
            result | {"completed_by": {"id": 9, "email": "a@b.c"}},
            result | {"completed_by": 12, "was_cancelled": True},
            result | {"ground_truth": True},
        ],
    }
    (task,) = tasks_of(data)
    assert [annotation.by for annotation in task.annotations] == ["p_x", "a@b.c", "12", ""]
    assert [annotation.is_cancelled for annotation in task.annotations][2]
    assert task.annotations[3].is_gold
    assert task.where == "task 5"


def test_a_region_of_plain_text_has_offsets_only() -> None:
    value = {"start": 4, "end": 9, "text": "1,200", "labels": ["Number"]}
    result = {"id": "r1", "type": "labels", "value": value}
    (task,) = tasks_of([{"data": {"text": "Net 1,200"}, "annotations": [{"result": [result]}]}])
    assert task.annotations[0].regions == (
        Region("r1", ("Number",), start_offset=4, end_offset=9, text="1,200"),
    )


def test_other_results_are_counted_by_type() -> None:
    results = [{"type": "choices", "value": {}}, {"type": "relation"}, {"type": "choices"}]
    (task,) = tasks_of([{"data": {}, "annotations": [{"result": results}]}])
    assert task.annotations[0].other == {"choices": 2, "relation": 1}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (5, "[0]: must be an object"),
        ({}, "[0].data: must be an object"),
        ({"data": {}, "annotations": {}}, "[0].annotations: must be a list"),
        ({"id": 4, "data": {}, "annotations": [5]}, "task 4: annotations[0]: must be an object"),
        (
            {"data": {}, "annotations": [{"result": [5]}]},
            "task 1: annotations[0].result[0]: must be an object",
        ),
        (
            {"data": {}, "annotations": [{"result": [{"type": "labels", "value": {}}]}]},
            "task 1: annotations[0].result[0].value.labels: must be a list",
        ),
        (
            {
                "data": {},
                "annotations": [{"result": [{"type": "labels", "value": {"labels": []}}]}],
            },
            "task 1: annotations[0].result[0].value: start and end must be XPaths, or whole",
        ),
    ],
)
def test_a_task_of_another_form_is_named_and_the_others_are_read(
    task: object, message: str
) -> None:
    fault, other = read_tasks([task, {"data": {}}])
    assert isinstance(fault, ReadingError)
    assert str(fault).startswith(message)
    assert isinstance(other, Task)


def test_a_file_that_is_no_list_of_tasks_is_refused() -> None:
    with pytest.raises(ReadingError, match="must be a list of tasks"):
        list(read_tasks("x"))
