"""The correction that an accepted dispute makes in the gold of the next release."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from portal.datasets.models import Dispute, DocumentContent
from portal.datasets.selectors.corrections import (
    ADD,
    CHANGE,
    REMOVE,
    disputed_fact,
    overlapping,
)

ACTS = (CHANGE, REMOVE, ADD)


class CorrectionError(ValueError):
    """Why a correction cannot be made; `field` is the one of the request."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class WantedCorrection:
    """What is to be done to the disputed fact, or what fact is added.

    `value` is the text as the page has it, and `start` its place, where the page has it more than
    once. What is empty stays as it is.
    """

    act: str
    type: str = ""
    value: str = ""
    start: int | None = None


def claimed_correction(dispute: Dispute) -> dict[str, Any] | None:
    """What the claim itself says, where it can be read as one: a label, or a text that the page has
    at the disputed fact. Anything else is for a person to say.
    """
    was, claim = disputed_fact(dispute), dispute.claim.strip()
    if was is None or not dispute.item.release.has_pages:
        return None
    label = _label(dispute, claim)
    wanted = (
        WantedCorrection(CHANGE, type=label) if label else WantedCorrection(CHANGE, value=claim)
    )
    try:
        found = resolve_correction(dispute, wanted)
    except CorrectionError:
        return None
    is_there = found["start"] < was["end"] and was["start"] < found["end"]
    return found if is_there and found != _as_correction(was) else None


def resolve_correction(dispute: Dispute, wanted: WantedCorrection) -> dict[str, Any]:
    """The correction with its place in the text. Raises CorrectionError."""
    item, was = dispute.item, disputed_fact(dispute)
    if not item.release.has_pages:
        raise CorrectionError("act", "This gold has no facts on a page; change it in its file.")
    if wanted.act not in ACTS:
        raise CorrectionError("act", f"Must be one of {', '.join(ACTS)}.")
    if (wanted.act == ADD) == (was is not None):
        reason = (
            "A fact is disputed: change or remove it." if was else "No fact is disputed: add one."
        )
        raise CorrectionError("act", reason)
    if wanted.act == REMOVE:
        return {"act": REMOVE}
    label = _label(dispute, wanted.type or (was["type"] if was else ""))
    if not label:
        labels = ", ".join(item.release.labels)
        raise CorrectionError("type", f"Must be one of {labels}.")
    value = wanted.value.strip() or (was["value"] if was else "")
    if was and value == was["value"] and wanted.start is None:
        start = was["start"]
    else:
        start = _place(dispute, value, wanted.start)
    return {
        "act": wanted.act,
        "type": label,
        "value": value,
        "start": start,
        "end": start + len(value),
    }


def _label(dispute: Dispute, text: str) -> str:
    labels: dict[str, str] = {label.lower(): label for label in dispute.item.release.labels}
    return labels.get(text.lower(), "")


def _as_correction(fact: dict[str, Any]) -> dict[str, Any]:
    return {"act": CHANGE, **{key: fact[key] for key in ("type", "value", "start", "end")}}


def _place(dispute: Dispute, value: str, start: int | None) -> int:
    """Where the text is meant: at `start`, or at the fact, or at its only place."""
    if not value:
        raise CorrectionError("value", "This is needed: the text as the page has it.")
    was = disputed_fact(dispute)
    others = [fact for fact in dispute.item.facts if fact is not was]
    text = DocumentContent.objects.values_list("text", flat=True).get(
        document=dispute.item.document_id
    )
    places = [
        at for at in _occurrences(text, value) if not overlapping(others, at, at + len(value))
    ]
    if start is not None:
        places = [at for at in places if at == start]
    elif was:
        here = [at for at in places if at < was["end"] and was["start"] < at + len(value)]
        places = here or places
    if len(places) == 1:
        return places[0]
    if not places:
        raise CorrectionError("value", "The page does not have this text free of other facts.")
    named = ", ".join(map(str, places[:10]))
    raise CorrectionError(
        "start", f"The page has this text {len(places)} times: say where it starts ({named})."
    )


def _occurrences(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)
