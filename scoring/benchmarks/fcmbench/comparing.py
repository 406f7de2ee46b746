"""Reads answers of FCMBench and compares them with the gold, by our rules or the published ones."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.benchmarks.items import Options, Payload
from scoring.metrics.fields import (
    Fields,
    Tolerance,
    UnparseableError,
    below_two,
    extract_json,
    flatten,
    is_close,
    near_pairs,
    normalise_float,
    normalise_plain,
    normalise_text,
    normalise_value,
    one_or_all,
    parse_json,
    plain,
    relative_tolerance,
    single_paths,
    unwrap_answer,
    with_plain_keys,
    within_two,
    without_places,
)
from scoring.metrics.loose_json import read_objects

CALCULATION, QUALITY = "NC", "IQE"
# Subtasks with rules of their own: the answer is one number, which is right if it is close enough;
# only the document types reported as present count.
_NUMBER = ("num_cal_001", "num_cal_002")
_PRESENT_ONLY = "doc_cla_003"
_PRESENT = "present_categories"

# Values of options.
FACTBOARD, REFERENCE = "factboard", "reference"
TEXT = "text"
RELATIVE, PAPER = "relative", "paper"
_TOLERANCES: dict[str, Tolerance] = {RELATIVE: relative_tolerance, PAPER: below_two}


def by_reference(options: Mapping[str, str]) -> bool:
    """Whether answers are read by the published rules. Old gradings, whose options do not say,
    read them so."""
    return options.get("rules", REFERENCE) == REFERENCE


@dataclass(frozen=True)
class Answer:
    """A parsed answer: its value (None if there is none), its fields, and the reason why there is
    no answer. `single` are the paths that have one scalar."""

    value: Any
    fields: Fields
    problem: str = ""
    single: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Comparison:
    """An answer's F1 in [0, 1], and its correct, missed and extra fields.

    `f1` is None if the published evaluator ignores the answer. `strict` is the same with fields
    that have no answer counted like wrong ones, and 0 for no answer at all.
    """

    f1: float | None
    strict: float
    right: int
    missed: Fields
    extra: Fields


def read_gold_answer(text: str, question: Payload, options: Options) -> Answer:
    """Return the gold answer; the whole text is JSON. Raises UnparseableError."""
    value = unwrap_answer(parse_json(text))
    if not by_reference(options):
        value = with_plain_keys(value)
    return _answer(value, question, options)


def read_answer(response: str, question: Payload, options: Options) -> Answer:
    """Return the answer in a model's response. Never raises."""
    is_ours = not by_reference(options)
    try:
        value = _answered(response) if is_ours else unwrap_answer(extract_json(response))
        if is_ours:
            _check_answered(value, question)
        return _answer(value, question, options)
    except UnparseableError as error:
        return Answer(None, frozenset(), str(error))


def _answered(response: str) -> Any:
    """Return the answer of the objects in a response: of those with an `answer`, or else of all
    that are not empty. Different answers are a list."""
    objects = [with_plain_keys(value) for value in read_objects(response)]
    chosen = [value for value in objects if "answer" in value]
    chosen = chosen or [value for value in objects if value] or objects
    return one_or_all([unwrap_answer(value) for value in chosen])


def _check_answered(value: Any, question: Payload) -> None:
    """Raise UnparseableError if the value is no answer to this question."""
    if value is None:
        raise UnparseableError("null is no answer")
    is_named = isinstance(value, dict) and _PRESENT in value
    if question["subtask"].endswith(_PRESENT_ONLY) and not is_named:
        raise UnparseableError(f"has no {_PRESENT}")


def _answer(value: Any, question: Payload, options: Options) -> Answer:
    value = without_places(value)
    if question["subtask"].endswith(_PRESENT_ONLY):
        value = {_PRESENT: value.get(_PRESENT, [])} if isinstance(value, dict) else {}
    fields = flatten(value, _normaliser(options))
    single = single_paths(value)
    if question["task"] == QUALITY and len(fields) == 1:
        # An image has one defect, which the gold has in a list.
        single |= {path for path, _ in fields}
    return Answer(value, fields, single=single)


def _normaliser(options: Options) -> Callable[[str, Any], str]:
    is_text = options["identifiers"] == TEXT
    if by_reference(options):
        return normalise_text if is_text else normalise_float
    return normalise_plain if is_text else _plain_float


def _plain_float(_key: str, value: Any) -> str:
    return normalise_value(plain(value) if isinstance(value, str) else value)


def compare(gold: Answer, answer: Answer, question: Payload, options: Options) -> Comparison:
    """Compute F1 of the fields. In calculations numbers need only be close."""
    tolerance = _tolerance(gold, question, options)
    if not by_reference(options):
        return _compare(gold, answer, tolerance)
    if tolerance and question["subtask"].endswith(_NUMBER):
        return _compare_numbers(gold, answer, tolerance)
    found = _found(gold.fields, answer.fields, tolerance)
    size = len(gold.fields) + len(answer.fields)
    f1 = 2.0 * len(found.ours) / size if size else 1.0
    return _comparison(gold, answer, found, f1, 0.0 if answer.problem else f1)


def _tolerance(gold: Answer, question: Payload, options: Options) -> Tolerance | None:
    """Return how close the numbers of the answer must be; None if they must be equal."""
    is_number = question["subtask"].endswith(_NUMBER)
    if options["tolerance"] == REFERENCE:
        return within_two if is_number else None
    if not is_number and question["task"] != CALCULATION:
        return None
    if options["tolerance"] == PAPER:
        return below_two
    return _tolerance_of_ratio if isinstance(gold.value, float) else relative_tolerance


def _tolerance_of_ratio(number: str) -> float:
    """The tolerance of a number that the gold has with a decimal point, also where it is whole."""
    return relative_tolerance(number if "." in number else f"{number}.0")


@dataclass(frozen=True)
class _Found:
    """Gold fields that were found, and the fields of the answer that they were found in."""

    ours: Fields
    theirs: Fields


def _found(gold: Fields, answer: Fields, tolerance: Tolerance | None) -> _Found:
    if tolerance is None:
        both = gold & answer
        return _Found(both, both)
    pairs = near_pairs(gold, answer, tolerance)
    return _Found(frozenset(ours for ours, _ in pairs), frozenset(theirs for _, theirs in pairs))


def _comparison(
    gold: Answer, answer: Answer, found: _Found, f1: float | None, strict: float
) -> Comparison:
    return Comparison(
        f1, strict, len(found.ours), gold.fields - found.ours, answer.fields - found.theirs
    )


def _compare_numbers(gold: Answer, answer: Answer, tolerance: Tolerance) -> Comparison:
    """Compare two numbers as the published evaluator does, which ignores answers that are null."""
    is_right = is_close(gold.value, answer.value, tolerance(str(gold.value)))
    found = _Found(gold.fields, answer.fields) if is_right else _Found(frozenset(), frozenset())
    f1 = None if answer.value is None else float(is_right)
    return _comparison(gold, answer, found, f1, f1 or 0.0)


def _compare(gold: Answer, answer: Answer, tolerance: Tolerance | None) -> Comparison:
    """Compare by our rules.

    Several values where the gold has one scalar are one wrong value. A question with one scalar as
    its answer is right or wrong as a whole. No answer is 0, even where the gold is empty.
    """
    ours = Counter(path for path, _ in gold.fields)
    theirs = Counter(path for path, _ in answer.fields)
    hedged = {path for path in gold.single if ours[path] == 1 and theirs[path] > 1}
    read = frozenset(field for field in answer.fields if field[0] not in hedged)
    found = _found(gold.fields, read, tolerance)
    if answer.problem:
        return _comparison(gold, answer, found, 0.0, 0.0)
    if "" in gold.single and ours[""] == 1:
        is_right = float(len(found.ours) == 1 == len(answer.fields))
        return _comparison(gold, answer, found, is_right, is_right)
    given = {path: 1 if path in hedged else count for path, count in theirs.items()}
    unanswered = sum(max(count - given.get(path, 0), 0) for path, count in ours.items())
    size, right = len(gold.fields) + sum(given.values()), 2.0 * len(found.ours)
    if not size:
        return _comparison(gold, answer, found, 1.0, 1.0)
    return _comparison(gold, answer, found, right / size, right / (size + unanswered))
