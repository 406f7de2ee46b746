"""The option `answer`, the same for every benchmark: what of a model's output is graded.

`shown` grades the answer as a reader would see it (`scoring.metrics.answer`), `whole` the output
as it is. The changes are counted. Gold pages are read by the same rule as predictions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from scoring.metrics.answer import (
    FENCE,
    JSON_PART,
    JSON_REPAIR,
    MARKS,
    REASONING,
    Form,
    read_answer,
)
from scoring.metrics.hidden import COMMENTS, HIDDEN, TITLE, shown_html

from .graded import FieldGrades, GradedItem
from .items import ItemResult, Options, Payload, Sides
from .options import Option

if TYPE_CHECKING:
    from .base import Judging, Scores

# The key of a prediction's text, by benchmark.
ANSWER_KEYS = {
    "fincriticaled": "html",
    "findoc": "text",
    "fcmbench": "response",
    "receiptbench": "response",
    "ccocr": "response",
}
_FORMS: dict[str, Form] = {
    "fincriticaled": "html",
    "findoc": "text",
    "fcmbench": "json",
    "receiptbench": "json",
}
_KIND_FORMS: dict[str, Form] = {
    "table": "html",
    "doc": "latex",
    "formula": "latex",
    "kie": "json",
    "grounding": "json",
}


def form_of(benchmark: str, kind: str) -> Form:
    """The expected form of an answer."""
    return _FORMS.get(benchmark) or _KIND_FORMS.get(kind, "text")


def kinds_of(benchmark: str) -> Callable[[str], str]:
    """Returns the kind of an item by its id: in CC-OCR that of its subset, if it is a known one."""
    if benchmark != "ccocr":
        return lambda _: ""
    from scoring.benchmarks.ccocr.figures import SUBSETS

    ops: dict[str, set[str]] = {}
    for subset in SUBSETS:
        for name in subset.names:
            ops.setdefault(name.lower(), set()).add(subset.op)

    def kind(item: str) -> str:
        kinds = ops.get(item.partition(":")[0].lower(), set())
        return next(iter(kinds)) if len(kinds) == 1 else ""

    return kind


SHOWN, WHOLE_OUTPUT = "shown", "whole"
ANSWER = Option("answer", SHOWN, choices=(SHOWN, WHOLE_OUTPUT))
# The key of the whole output, next to the answer in it that is graded.
OUTPUT = "output"
# The key of an item's result that lists the changes, and the end of the names of their counts.
CHANGES = "answer_changes"


def shown_prediction(
    benchmark: str, gold: Payload, prediction: Payload | None, options: Mapping[str, str]
) -> tuple[Payload | None, tuple[str, ...]]:
    """Return the prediction as it is graded, and the names of the changes. Options of old gradings
    lack the option, and graded whole outputs."""
    key = ANSWER_KEYS.get(benchmark, "")
    text = (prediction or {}).get(key)
    if prediction is None or not isinstance(text, str) or not _is_shown(options):
        return prediction, ()
    shown, changes = read_answer(text, form_of(benchmark, str(gold.get("op", ""))))
    return (prediction | {key: shown} if changes else prediction), changes


def _is_shown(options: Mapping[str, str]) -> bool:
    return options.get(ANSWER.name, WHOLE_OUTPUT) == SHOWN


def shown_gold(gold: Payload, options: Mapping[str, str]) -> Payload:
    """Return gold with its page as a reader sees it, unless that would lose one of its facts."""
    html = gold.get("html")
    if not isinstance(html, str) or not _is_shown(options):
        return gold
    shown = _shown_page(html, options.get("labels", ""))
    return gold if shown == html else gold | {"html": shown}


@lru_cache(maxsize=64)
def _shown_page(html: str, labels: str) -> str:
    shown, changes = shown_html(html)
    if not changes:
        return html
    ends = [f"</{label.lower()}" for label in labels.split(",")]
    before, after = html.lower(), shown.lower()
    return shown if all(before.count(end) == after.count(end) for end in ends) else html


def count_name(change: str) -> str:
    """Return the name of the count of a change.

    >>> count_name("reasoning removed")
    'reasoning_removed'
    """
    return change.replace(" ", "_").lower()


# Nothing that a reader would see was in the output.
NOTHING_LEFT = "nothing left"
_CHANGES = (
    *(REASONING, MARKS, HIDDEN, COMMENTS, TITLE, FENCE, JSON_PART, JSON_REPAIR),
    NOTHING_LEFT,
)


def changes_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many answers were changed, by the name of the change, from a submission's counts.

    >>> changes_of({"facts": 7, "reasoning_removed": 30})
    {'reasoning removed': 30}
    """
    known = {change: counts.get(count_name(change), 0) for change in _CHANGES}
    return {change: count for change, count in known.items() if count}


# --- the functions of a benchmark, with the option ----------------------------------------------


def with_answers(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a benchmark that know the option, from those that do not. Partial
    functions, unlike closures, can be sent to other processes."""
    key = parts["key"]
    added: dict[str, Any] = {
        "check_options": partial(_check_options, parts["check_options"]),
        "score_item": partial(_score_item, key, parts["score_item"]),
        "aggregate": partial(_aggregate, parts["aggregate"]),
    }
    if "signed" in parts:
        added["signed"] = partial(_signed, parts["signed"])
    if "sides" in parts:
        added["sides"] = partial(_sides, key, parts["sides"])
    if grades := parts.get("field_grades"):
        added["field_grades"] = _field_grades(key, grades)
    if judging := parts.get("judging"):
        added["judging"] = _judging(key, judging)
    return {**parts, **added}


def _check_options(check: Callable[..., Options], raw: Mapping[str, object], *rest: Any) -> Options:
    others = {name: value for name, value in raw.items() if name != ANSWER.name}
    checked = check(others, *rest)
    # The published evaluators grade the whole output.
    default = WHOLE_OUTPUT if checked.get("rules") == "reference" else ANSWER.default
    return checked | {ANSWER.name: ANSWER.check(raw.get(ANSWER.name, default))}


def _signed(signed: Callable[[Options], Iterable[str]], options: Options) -> Iterator[str]:
    yield from signed({name: value for name, value in options.items() if name != ANSWER.name})
    yield f"{ANSWER.name}:{options.get(ANSWER.name, WHOLE_OUTPUT)}"


def _score_item(
    benchmark: str,
    score: Callable[..., ItemResult],
    gold: Payload,
    prediction: Payload | None,
    options: Options,
    *answers: Sequence[Any],
) -> ItemResult:
    shown, changes = shown_prediction(benchmark, gold, prediction, options)
    if shown and prediction and changes:
        key = ANSWER_KEYS[benchmark]
        if not shown[key].strip():
            changes = (*changes, NOTHING_LEFT)
        shown = shown | {OUTPUT: prediction[key]}
    result = score(shown_gold(gold, options), shown, options, *answers)
    return result | {CHANGES: list(changes)} if changes else result


def _aggregate(
    aggregate: "Callable[[Iterable[ItemResult], Options], Scores]",
    results: Iterable[ItemResult],
    options: Options,
) -> "Scores":
    changes: Counter[str] = Counter()

    def seen() -> Iterator[ItemResult]:
        for result in results:
            changes.update(result.get(CHANGES, ()))
            yield result

    scores = aggregate(seen(), options)
    counts = {count_name(change): changes[change] for change in sorted(changes)}
    return replace(scores, counts={**scores.counts, **counts}) if counts else scores


def _sides(
    benchmark: str,
    sides: Callable[..., Sides | None],
    gold: Payload,
    prediction: Payload | None,
    options: Mapping[str, str],
) -> Sides | None:
    shown, _ = shown_prediction(benchmark, gold, prediction, options)
    return sides(shown_gold(gold, options), shown, options)


def _field_grades(benchmark: str, grades: FieldGrades) -> FieldGrades:
    def item(
        gold: Payload, prediction: Payload | None, result: ItemResult, options: Options
    ) -> GradedItem | None:
        shown, _ = shown_prediction(benchmark, gold, prediction, options)
        return grades.item(gold, shown, result, options)

    return replace(grades, item=item)


def _judging(benchmark: str, judging: "Judging") -> "Judging":
    def questions(gold: Payload, prediction: Payload | None, options: Options) -> Sequence[Any]:
        shown, _ = shown_prediction(benchmark, gold, prediction, options)
        return judging.questions(shown_gold(gold, options), shown, options)

    return replace(
        judging,
        options=partial(_check_options, judging.options),
        questions=questions,
        score_item=partial(_score_item, benchmark, judging.score_item),
    )
