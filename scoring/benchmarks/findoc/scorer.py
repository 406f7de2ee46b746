"""Financial document accuracy: options and figures, the score of one document's OCR text, and the
means over the documents of a submission.
"""

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, cast, get_args

from scoring.benchmarks.base import Column, Headline, Scores, load_figures
from scoring.benchmarks.graded import (
    NOT_FOUND,
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    field_rows,
    record_sheet,
    text_sheet,
)
from scoring.benchmarks.items import (
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    excerpt,
    mean,
)
from scoring.benchmarks.options import Option, OptionError, complete_options
from scoring.metrics.document_accuracy import (
    DISCLOSURES,
    NUMBER,
    SECTIONS,
    WEIGHTS,
    Containment,
    DocumentMatch,
    Matching,
    json_number,
    match_document,
    normalize_number,
    normalize_text,
    plain_text,
    written_numbers,
)

_MOST_PHRASES = 50
_LONGEST_PHRASE = 200
# A bar would make signatures ambiguous, a comma the list itself.
_RESERVED = ("|", ",")


def canonical_phrases(value: object, *, option: str) -> str:
    """Return phrases in lower case with collapsed white space, joined by commas, from a list or
    such a text.

    Duplicates and order are dropped, since they change no figure. No phrases give an empty text.
    Raises OptionError.

    >>> canonical_phrases("Cash  Flow, Auditor", option="sections")
    'auditor,cash flow'
    """
    if isinstance(value, str):
        raw = value.split(",")
    elif isinstance(value, list | tuple) and all(isinstance(phrase, str) for phrase in value):
        raw = list(value)
    else:
        raise OptionError(f"option {option} must be phrases separated by commas, not {value!r}")
    phrases = sorted({normalize_text(phrase) for phrase in raw} - {""})
    if any(mark in phrase for phrase in phrases for mark in _RESERVED):
        raise OptionError(f"option {option}: a phrase must not contain “,” or “|”")
    if any(len(phrase) > _LONGEST_PHRASE or not phrase.isprintable() for phrase in phrases):
        raise OptionError(
            f"option {option}: a phrase can have at most {_LONGEST_PHRASE} printable characters"
        )
    if len(phrases) > _MOST_PHRASES:
        raise OptionError(f"option {option}: more than {_MOST_PHRASES} phrases")
    return ",".join(phrases)


def phrases_of(options: Options, option: str) -> tuple[str, ...]:
    """Return the phrases in checked options."""
    return tuple(filter(None, options[option].split(",")))


_sections = partial(canonical_phrases, option="sections")
_disclosures = partial(canonical_phrases, option="disclosures")

EXACT = "exact"
OPTIONS = (
    Option("matching", EXACT, choices=get_args(Matching)),
    Option("sections", _sections(SECTIONS), canonical=_sections),
    Option("disclosures", _disclosures(DISCLOSURES), canonical=_disclosures),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

    >>> check_options({"sections": ["Notes"], "matching": "substring"})["sections"]
    'notes'
    """
    return complete_options(OPTIONS, raw)


# Longer lists appear in the signature as their length and a digest, so that it fits a table.
_LONGEST_LIST = 90


def signed(options: Options) -> Iterator[str]:
    """Yield the parts of the signature.

    >>> list(signed(check_options({"sections": "notes", "disclosures": ""})))
    ['matching:exact', 'sections:notes', 'disclosures:', 'missing:zero']
    """
    for name, value in options.items():
        if len(value) > _LONGEST_LIST:
            digest = sha256(value.encode()).hexdigest()[:12]
            value = f"{len(phrases_of(options, name))} phrases {digest}"
        yield f"{name}:{value}"


FIGURES = load_figures(Path(__file__).with_name("figures.toml"))
ACCURACY = "Accuracy"
PARTS = tuple(WEIGHTS)
FINAL = "final_score"

_NUMBERS = {
    "exact": "Share of distinct gold numbers that occur in the prediction",
    "substring": "Share of gold numbers whose digits occur anywhere in the prediction",
    "unique-substring": "Share of distinct gold numbers whose digits occur anywhere in the "
    "prediction",
}
_LINE_ITEMS = (
    "Share of gold names and amounts longer than three characters that occur in the prediction"
)


_PART_WORDS = {
    "numeric_accuracy": "numbers",
    "line_item_accuracy": "line items",
    "section_accuracy": "sections",
    "disclosure_accuracy": "disclosures",
}


def _contained(phrases: str) -> str:
    return f"Share of these phrases that occur in the prediction: {phrases}"


def columns_for(options: Options) -> tuple[Column, ...]:
    """Return the four parts, each a mean over documents, and the final score, which ranks."""
    sections, disclosures = (_listed(options, name) for name in ("sections", "disclosures"))
    column = partial(Column, group=ACCURACY, over="gold")
    return (
        column("numeric_accuracy", "Numbers", help=_NUMBERS[options["matching"]]),
        column("line_item_accuracy", "Line items", help=_LINE_ITEMS),
        column("section_accuracy", "Sections", help=_contained(sections)),
        column("disclosure_accuracy", "Disclosures", help=_contained(disclosures)),
        column(FINAL, "Final", help=_weights(), rank="board"),
    )


def headline_for(_: Options) -> Headline | None:
    return FIGURES.headline


def _listed(options: Options, name: str) -> str:
    return ", ".join(f"“{phrase}”" for phrase in phrases_of(options, name)) or "no phrases"


def _weights() -> str:
    shares = (f"{weight:.0%} {_PART_WORDS[part]}" for part, weight in WEIGHTS.items())
    return f"Weighted mean ({', '.join(shares)})"


# The most missed values that a result lists. The counts cover all of them.
MOST_MISSED = 50

_KEYS = (*PARTS, FINAL)
_PART_NAMES = {
    "numbers": "number",
    "line_items": "line item",
    "sections": "section",
    "disclosures": "disclosure",
}


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """Return the scores of one document, as plain JSON.

    The four accuracies and `final_score`, in [0, 1]; without a prediction they are null with
    `missing: skip`, else 0. `parts` has, for `numbers`, `line_items`, `sections` and `disclosures`,
    the number of values in the gold (`total`), the number `found`, and the first MOST_MISSED that
    were `missed`.
    """
    match = _match(gold, prediction, options)
    is_skipped = prediction is None and options["missing"] == "skip"
    return {
        "id": gold["id"],
        "missing": prediction is None,
        **(dict.fromkeys(_KEYS) if is_skipped else match.report()),
        "parts": {name: _part(getattr(match, name)) for name in _PART_NAMES},
    }


def aggregate(results: Iterable[ItemResult], _: Options) -> Scores:
    """Return means over the documents, in any order; `results` may be a stream."""
    values: dict[str, array[float]] = {key: array("d") for key in _KEYS}
    counts = dict.fromkeys((f"{name}{end}" for name in _PART_NAMES for end in ("", "_found")), 0)
    items = missing = 0
    for result in results:
        items += 1
        missing += result["missing"]
        if result[FINAL] is None:
            continue
        for key in _KEYS:
            values[key].append(result[key])
        for name in _PART_NAMES:
            counts[name] += result["parts"][name]["total"]
            counts[f"{name}_found"] += result["parts"][name]["found"]
    return Scores(
        items=items,
        missing=missing,
        scores={key: mean(part) for key, part in values.items()},
        counts=counts,
    )


def _match(gold: Payload, prediction: Payload | None, options: Options) -> DocumentMatch:
    return match_document(
        gold["gold"],
        "" if prediction is None else str(prediction["text"]),
        matching=cast("Matching", options["matching"]),
        sections=phrases_of(options, "sections"),
        disclosures=phrases_of(options, "disclosures"),
    )


def _part(part: Containment) -> ItemResult:
    missed = [excerpt(text) for text in part.missed[:MOST_MISSED]]
    return {"total": part.total, "found": part.found, "missed": missed}


def contributions(result: Mapping[str, Any], _: Mapping[str, str]) -> Iterator[Contribution]:
    if result[FINAL] is None:
        return
    totals = (result["parts"][name]["total"] for name in _PART_NAMES)
    facts = dict(zip(PARTS, totals, strict=True))
    for key in PARTS:
        yield Contribution(key, result[key], facts=facts[key])
    least = min((facts[key] / weight for key, weight in WEIGHTS.items() if facts[key]), default=1.0)
    yield Contribution(FINAL, result[FINAL], facts=least)


def summarise(result: Mapping[str, Any], _: Mapping[str, str]) -> ItemSummary:
    """Return its final score and the kinds of values that were not found."""
    parts: Mapping[str, Any] = result["parts"]
    short = sorted(name for name, part in parts.items() if part["found"] < part["total"])
    errors = tuple(f"{name.replace('_', ' ')} not found" for name in short)
    return ItemSummary(result[FINAL], errors=errors)


def _wrong(result: Mapping[str, Any]) -> WrongFields | None:
    if result[FINAL] is None:
        return None
    parts = [(name, result["parts"][part]) for part, name in _PART_NAMES.items()]
    return WrongFields(
        Counter(FieldName(name, name, value) for name, part in parts for value in part["missed"]),
        is_cut=any(part["total"] - part["found"] > len(part["missed"]) for _, part in parts),
    )


def _graded(
    gold: Payload, prediction: Payload | None, _: ItemResult, options: Options
) -> GradedItem:
    match = _match(gold, prediction, options)
    fields = []
    for part, name in _PART_NAMES.items():
        counted = getattr(match, part)
        missed = frozenset(counted.missed)
        fields += [
            GradedField(name, name, value, None, NOT_FOUND)
            if value in missed
            else GradedField(name, name, value, value, "")
            for value in counted.wanted
        ]
    record = gold["gold"] if isinstance(gold["gold"], dict) else {"gold": gold["gold"]}
    text = None if prediction is None else str(prediction["text"])
    return GradedItem(
        tuple(fields),
        record_sheet(record, list(_paths(record, fields, options))),
        None if text is None else text_sheet(text, _places(text, fields, options)),
    )


def _paths(
    record: Mapping[str, Any], fields: list[GradedField], options: Options
) -> Iterator[tuple[str, str]]:
    """Return the path of each value in the gold. The phrases of sections and disclosures are fixed
    and may be in no path."""
    plain, found = _plain(options), dict[str, tuple[str, str]]()
    for row in field_rows(record):
        path = re.sub(r"\[\d+\]", "", row.path)
        found.setdefault(plain(row.text), (path, row.text))
        if _FLOAT.fullmatch(row.text):
            found.setdefault(json_number(float(row.text)), (path, row.text))
        for number, start, end in _numbers(row.text, options):
            found.setdefault(number, (path, row.text[start:end]))
    for field in fields:
        yield found.get(field.value, ("", ""))


def _places(
    text: str, fields: list[GradedField], options: Options
) -> Iterator[tuple[int, int, int]]:
    """Return the first place of each value that was found."""
    numbers: dict[str, tuple[int, int]] = {}
    for number, start, end in _numbers(text, options):
        numbers.setdefault(number, (start, end))
    phrases = _Phrases(text, _plain(options))
    for at, field in enumerate(fields):
        if field.error:
            continue
        find = numbers.get if field.kind == _PART_NAMES["numbers"] else phrases.find
        if place := find(field.value):
            yield *place, at


# A number of JSON with decimals or an exponent.
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _plain(options: Options) -> Callable[[str], str]:
    return plain_text if options["matching"] == EXACT else normalize_text


def _numbers(text: str, options: Options) -> Iterator[tuple[str, int, int]]:
    """Yield the numbers of a text as they are compared, and their places."""
    if options["matching"] == EXACT:
        for each in written_numbers(text):
            for shown in each.shown():
                yield shown, each.start, each.end
        return
    for match in NUMBER.finditer(text):
        digits = match.group().rstrip(".,")
        yield normalize_number(digits), match.start(), match.start() + len(digits)


class _Phrases:
    """Finds normalised phrases in a text."""

    def __init__(self, text: str, plain: Callable[[str], str]) -> None:
        words = list(re.finditer(r"\S+", text))
        self.words = [plain(word.group()) for word in words]
        self.text = " ".join(self.words)
        self.original = [word.span() for word in words]
        self.starts = [0, *accumulate(len(word) + 1 for word in self.words)][:-1]

    def find(self, phrase: str) -> tuple[int, int] | None:
        start = self.text.find(phrase) if phrase else -1
        return None if start < 0 else (self._place(start), self._place(start + len(phrase) - 1) + 1)

    def _place(self, at: int) -> int:
        word = bisect_right(self.starts, at) - 1
        start, end = self.original[word]
        return min(start + at - self.starts[word], end - 1)


FIELD_GRADES = FieldGrades(_wrong, _graded, noun="check")
