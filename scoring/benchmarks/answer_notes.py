"""Notes on the answers of a submission, without gold: which of them will score nothing, and why.

They are for the check of a file. They refuse nothing, because an empty answer is an answer, too.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from scoring.metrics.answer import REASONING, Form
from scoring.metrics.loose_json import json_problem

from .answers import ANSWER_KEYS, form_of, kinds_of, shown_prediction
from .items import Payload

# Notes on the form of pages need at least this many answers to compare.
_FEW = 3
# Answers in a script that at most this share of all answers has are worth a note.
_RARE = 0.2
_LEAST = 20
_LONGEST_REASON = 120

_DIGIT = re.compile(r"\d")
_TAG = re.compile(r"<[^<>]*>")
_HTML_TABLE = re.compile(r"<table\b[^<>]*>((?:(?!</?table\b).)*+)", re.IGNORECASE | re.DOTALL)
_PIPE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)


class _Read(NamedTuple):
    """An answer as it is graded: its text, its form, and the changes that led to it."""

    text: str
    form: Form
    changes: tuple[str, ...]


def answer_notes(
    benchmark: str, predictions: Iterable[Payload], options: Mapping[str, str]
) -> list[str]:
    """Return the notes, the most severe first. Answers that are no text, such as the fields of a
    receipt, have none.

    >>> answer_notes("findoc", [{"id": "a", "text": "<think>1,200"}], {"answer": "shown"})
    ['1 of 1 answers is empty, of which 1 has only reasoning: they score nothing.', 'Reasoning removed from 1 of 1 answers. Only the rest is graded.']
    """  # noqa: E501 - the notes are long
    answers = list(_read(benchmark, predictions, options))
    if not answers:
        return []
    notes = [*_empty(answers), *_unparseable(answers), *_changed(answers), *_same(answers)]
    pages = [each.text for each in answers if each.form != "json" and each.text.strip()]
    if benchmark in ("fincriticaled", "findoc"):
        notes += [*_without_numbers(pages), *_other_scripts(pages)]
    return notes


def _read(
    benchmark: str, predictions: Iterable[Payload], options: Mapping[str, str]
) -> Iterator[_Read]:
    key, kind_of = ANSWER_KEYS.get(benchmark, ""), kinds_of(benchmark)
    for prediction in predictions:
        if not isinstance(prediction.get(key), str):
            continue
        kind = kind_of(f"{prediction.get('subset', '')}:{prediction['id']}")
        shown, changes = shown_prediction(benchmark, {"op": kind}, prediction, options)
        yield _Read(str((shown or {})[key]), form_of(benchmark, kind), changes)


def _share(count: int, answers: list[_Read]) -> str:
    return f"{count:,} of {len(answers):,} answers {'is' if count == 1 else 'are'}"


def _empty(answers: list[_Read]) -> Iterator[str]:
    empty = [each for each in answers if not each.text.strip()]
    if not empty:
        return
    drafts = sum(REASONING in each.changes for each in empty)
    has = "has" if drafts == 1 else "have"
    why = f", of which {drafts:,} {has} only reasoning" if drafts else ""
    yield f"{_share(len(empty), answers)} empty{why}: they score nothing."


def _unparseable(answers: list[_Read]) -> Iterator[str]:
    reasons = Counter(
        problem[:_LONGEST_REASON]
        for each in answers
        if each.form == "json" and each.text.strip() and (problem := json_problem(each.text))
    )
    for reason, count in reasons.most_common(_FEW):
        yield f"{_share(count, answers)} unparseable: {reason}."
    if more := sum(reasons.values()) - sum(count for _, count in reasons.most_common(_FEW)):
        yield f"{_share(more, answers)} unparseable for other reasons."


def _changed(answers: list[_Read]) -> Iterator[str]:
    counts = Counter(change for each in answers for change in each.changes)
    for change, count in sorted(counts.items()):
        rest = " Only the rest is graded." if change == REASONING else ""
        yield f"{changed_words(change, count, len(answers))}.{rest}"


def changed_words(change: str, count: int, answers: int) -> str:
    """
    >>> changed_words("reasoning removed", 30, 1200)
    'Reasoning removed from 30 of 1,200 answers'
    """
    joint = "from" if change.endswith("removed") else "in"
    start = change if change[:2].isupper() else change.capitalize()
    return f"{start} {joint} {count:,} of {answers:,} answers"


def _same(answers: list[_Read]) -> Iterator[str]:
    if len(answers) >= _FEW and len({each.text for each in answers}) == 1 and answers[0].text:
        yield f"All {len(answers):,} answers are the same text."


def _without_numbers(pages: list[str]) -> Iterator[str]:
    bare = sum(not _DIGIT.search(_TAG.sub("", page)) for page in pages)
    if bare:
        yield f"{bare:,} of {len(pages):,} pages contain no number."
    empty = sum(_has_bare_table(page) for page in pages) - bare
    if empty > 0:
        yield f"{empty:,} of {len(pages):,} pages have a table without a number."


def _has_bare_table(page: str) -> bool:
    tables = [_TAG.sub("", table) for table in _HTML_TABLE.findall(page)]
    if rows := _PIPE_ROW.findall(page):
        tables.append("".join(rows))
    return any(not _DIGIT.search(table) for table in tables)


def _other_scripts(pages: list[str]) -> Iterator[str]:
    scripts = Counter(script for page in pages if (script := _script(page)))
    if len(pages) < _FEW or len(scripts) < 2:
        return
    (usual, _), *others = scripts.most_common()
    for script, count in others:
        if count <= max(1, _RARE * len(pages)):
            yield (
                f"{count:,} of {len(pages):,} pages are written in {script} script, unlike most, "
                f"which are in {usual}."
            )


def _script(page: str) -> str:
    """Return the script that most of a page is written in; empty for a short one.

    >>> _script("Balance sheet as at March 31"), _script("貸借対照表 資産の部 " * 4)
    ('Latin', 'CJK')
    """
    written = [each for each in _TAG.sub("", page)[:20_000] if each.isalpha()][:2_000]
    if len(written) < _LEAST:
        return ""
    names = Counter(map(_script_of, written))
    return names.most_common(1)[0][0]


_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


def _script_of(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0]
    return "CJK" if name in _EAST_ASIAN else name.capitalize()
