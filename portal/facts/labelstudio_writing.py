"""Documents with their spans as tasks of Label Studio.

A span is a result of a HyperTextLabels control: XPaths of the text nodes in which it begins and
ends, offsets inside these, and offsets over the page in which a line break counts as one character.
Label Studio counts code points in all of them. Value and sign are results of two TextArea controls
with the same id, so that they are shown, and can be corrected, with their span.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from portal.facts.fact_spans import FactSpan
from portal.facts.text_paths import TextPaths
from portal.facts.values import read_value

OBJECT = "html"
LABELS = "labels"
DETAILS = ("value", "sign")
# Colours of labels in the order of the set, for the labelling interface.
_COLOURS = ("#1f6feb", "#d29922", "#2da44e", "#a371f7", "#cf222e", "#1b7c83")


@dataclass(frozen=True)
class LabelledBy:
    """One person's labels, or gold: `by` is the number Label Studio is told for the person."""

    id: int
    by: int | None
    spans: Sequence[FactSpan]
    seconds: int | None = None
    is_gold: bool = False


def write_task(
    number: int,
    data: Mapping[str, Any],
    canonical_html: str,
    labelled: Sequence[LabelledBy],
) -> dict[str, Any]:
    """One document as a task; `data` is what is known of it besides its HTML.

    The spans must lie in the text of `canonical_html`.
    """
    paths = TextPaths(canonical_html)
    return {
        "id": number,
        "data": {OBJECT: canonical_html, **data},
        "annotations": [_annotation(paths, one) for one in labelled],
        "predictions": [],
    }


def label_config(labels: Sequence[str]) -> str:
    """The labelling interface that shows such tasks, as Label Studio's settings want it."""
    rows = "".join(
        f'    <Label value="{escape(label)}" background="{_COLOURS[n % len(_COLOURS)]}"/>\n'
        for n, label in enumerate(labels)
    )
    areas = "".join(
        f'  <TextArea name="{name}" toName="{OBJECT}" perRegion="true" maxSubmissions="1"/>\n'
        for name in DETAILS
    )
    return (
        f'<View>\n  <HyperTextLabels name="{LABELS}" toName="{OBJECT}">\n{rows}'
        f'  </HyperTextLabels>\n{areas}  <HyperText name="{OBJECT}" value="${OBJECT}"/>\n</View>\n'
    )


def _annotation(paths: TextPaths, labelled: LabelledBy) -> dict[str, Any]:
    ordered = sorted(labelled.spans, key=lambda span: span.start)
    person = {} if labelled.by is None else {"completed_by": labelled.by}
    return {
        "id": labelled.id,
        **person,
        "result": [result for span in ordered for result in _results(paths, span)],
        "was_cancelled": False,
        "ground_truth": labelled.is_gold,
        "lead_time": labelled.seconds,
    }


def _results(paths: TextPaths, span: FactSpan) -> list[dict[str, Any]]:
    first, last = paths.places(span.start, span.end)
    start, end = paths.global_offsets(span.start, span.end)
    place = {
        "start": first.path,
        "end": last.path,
        "startOffset": first.offset,
        "endOffset": last.offset,
        "globalOffsets": {"start": start, "end": end},
        "text": span.quote.replace("\n", "\\n"),
    }
    common = {"id": span.key, "to_name": OBJECT, "origin": "manual"}
    label = {**common, "from_name": LABELS, "type": "hypertextlabels"}
    results = [{**label, "value": {**place, "hypertextlabels": [span.label]}}]
    meant = read_value(span.quote, span.label)
    for name, said, derived in zip(DETAILS, (span.value, span.sign), meant, strict=True):
        # That a fact has no value is told only where its quote says otherwise.
        if said or derived:
            area = {**common, "from_name": name, "type": "textarea"}
            results.append({**area, "value": {**place, "text": [said]}})
    return results
