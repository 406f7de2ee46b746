"""Questions about one item: the facts of a page, or the values of a receipt's fields.

A page is asked about in parts of limited size, whose answers are merged. The judge sees what is
displayed of a page and how it is laid out, nothing else. Attributes, styles, comments and scripts
are most of a filing's bytes, and could hide words for the judge that no reader sees.

About a receipt, a first comparison with a judge that only records pairs of values collects the
questions. A second one uses the answers as the judge. The pairs do not depend on the answers.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from portal.facts.markup import Kind, tokens
from portal.facts.page_text import HIDDEN_NESTING, HIDDEN_RAW, track_hidden
from portal.facts.spans import KNOWN_LABELS
from scoring.metrics.facts import Fact, Page
from scoring.metrics.receipts import FIELDS as RULES
from scoring.metrics.receipts import Protocol, compare_field

from .endpoint import Unscored
from .questions import FACTS, FIELDS, FactRow, FactsAnswer, FieldAnswer, Prompt, Question

# Characters of one side, about 100,000 tokens of a table of digits. The rest of a prediction is not
# judged, so that its facts are not found.
LONGEST_PAGE = 300_000
_SPAN = re.compile(r"""\s((?:col|row)span)\s*=\s*["']?(\d{1,4})""", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def shown_page(html: str, labels: Sequence[str] = KNOWN_LABELS) -> str:
    """The page without fact tags and hidden content, and without attributes except cell spans. A
    string without `<` or `>` is plain text. Never raises; linear time.

    >>> shown_page('<p class="x">Net <Number>(1,200)</Number><!-- ok --><script>1</script></p>')
    '<p>Net (1,200)</p>'
    """
    if "<" in html and ">" in html:
        unwrapped = {label.lower() for label in (*KNOWN_LABELS, *labels)}
        html = "".join(_pieces(html, unwrapped))
    return _LINES.sub("\n", _SPACES.sub(" ", html)).strip()[:LONGEST_PAGE]


def _pieces(html: str, unwrapped: set[str]) -> Iterator[str]:
    hidden: list[str] = []
    for token in tokens(html):
        if token.name in HIDDEN_NESTING:
            track_hidden(hidden, token)
        elif hidden or token.name in unwrapped or token.name in HIDDEN_RAW:
            continue
        elif token.kind is Kind.START:
            yield _start_tag(html[token.start : token.end], token.name)
        elif token.kind is Kind.END:
            yield f"</{token.name}>"
        elif token.kind in {Kind.TEXT, Kind.RAW} or token.name:
            yield html[token.start : token.end]


def _start_tag(tag: str, name: str) -> str:
    spans = "".join(f" {key.lower()}={number}" for key, number in _SPAN.findall(tag))
    return f"<{name}{spans}>"


# Facts per question: their rows fit into a few thousand tokens, which every model can return.
MOST_FACTS = 40
# Characters of gold text on each side of a fact.
_CONTEXT = 80
# Tokens of an answer: its explanations, a row with a short sentence, and the repeated value.
_FRAME_TOKENS, _ROW_TOKENS, _CHARACTERS_A_TOKEN = 600, 120, 2


@dataclass(frozen=True)
class PageAnswer:
    """A judge's unchecked answer for one page, with a row per fact by its number."""

    structure_score: int
    structure_explanation: str
    overall_explanation: str
    rows: dict[int, FactRow]


def split(facts: Sequence[Fact], most: int = MOST_FACTS) -> list[tuple[Fact, ...]]:
    """Splits the facts into parts of at most `most`. Without facts there is one empty part, because
    the structure is still judged."""
    rest = iter(facts)
    return list(iter(lambda: tuple(islice(rest, most)), ())) or [()]


def page_questions(
    gold_html: str,
    prediction_html: str,
    gold: Page,
    labels: Sequence[str],
    most: int = MOST_FACTS,
    *,
    prompt: Prompt = FACTS,
) -> list[Question[FactsAnswer]]:
    """The questions about one page. Each contains both pages in full, because a fact's place
    depends on the whole page."""
    reference, transcription = (shown_page(html, labels) for html in (gold_html, prediction_html))
    return [
        Question(
            prompt=prompt,
            schema=FactsAnswer,
            sections={
                "REFERENCE": reference,
                "FACTS": "\n".join(_line(fact, gold.text) for fact in part),
                "TRANSCRIPTION": transcription,
            },
            most_output=_most_output(part),
            problem=partial(_problem, frozenset(fact.n for fact in part)),
        )
        for part in split(gold.facts, most)
    ]


def merge(answers: Iterable[FactsAnswer]) -> PageAnswer:
    """Merges the answers to the parts of one page.

    The structure comes from the first part. Raises Unscored if two parts contain the same fact,
    which checked answers never do.
    """
    first, *others = answers
    rows: dict[int, FactRow] = {}
    for answer in (first, *others):
        for n, row in _rows(answer).items():
            if n in rows:
                raise Unscored(f"fact {n} was judged twice")
            rows[n] = row
    return PageAnswer(
        first.structure_score, first.structure_explanation, first.overall_explanation, rows
    )


def _rows(answer: FactsAnswer) -> dict[int, FactRow]:
    return {row.n: row for row in answer.facts}


def _line(fact: Fact, text: str) -> str:
    before = text[max(0, fact.start - _CONTEXT) : fact.start]
    behind = text[fact.end : fact.end + _CONTEXT]
    line = {"n": fact.n, "type": fact.type, "value": fact.value, "before": before, "behind": behind}
    return json.dumps(line, ensure_ascii=False)


def _most_output(part: Iterable[Fact]) -> int:
    rows = sum(_ROW_TOKENS + len(fact.value) // _CHARACTERS_A_TOKEN for fact in part)
    return _FRAME_TOKENS + rows


def _problem(asked: frozenset[int], answer: FactsAnswer) -> str:
    """Why the rows are not exactly one verdict for every fact in question; empty if they are."""
    rows = _rows(answer)
    if len(rows) < len(answer.facts):
        return "facts has several entries for one n"
    if missing := sorted(asked - rows.keys()):
        return f"facts has no entry for n = {_listed(missing)}"
    if unknown := sorted(rows.keys() - asked):
        return f"facts has unknown entries: n = {_listed(unknown)}"
    return ""


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown} and {len(numbers) - 20} more" if len(numbers) > 20 else shown


_MOST_OUTPUT = 200
# A reading with the same meaning is never that much longer than the reference, but an attempt to
# instruct the judge is.
_TIMES, _CHARACTERS = 4, 60


class Pair(NamedTuple):
    """Two values of a field, normalised, that are not equal."""

    field: str
    gold: str
    prediction: str

    @property
    def is_hopeless(self) -> bool:
        """Whether the reading is too long to mean the same, so that the judge is not asked."""
        return len(self.prediction) > _TIMES * len(self.gold) + _CHARACTERS


class Verdicts:
    """Answers as the judge of a protocol: deterministic and picklable."""

    def __init__(self, same: Mapping[Pair, bool]) -> None:
        self._same = dict(same)

    def __call__(self, field: str, gold: str, prediction: str) -> bool:
        """Raises KeyError for an unknown pair."""
        pair = Pair(field, gold, prediction)
        return not pair.is_hopeless and self._same[pair]


def pairs_of(gold: Mapping[str, Any], prediction: Mapping[str, Any]) -> list[Pair]:
    """The distinct pairs that a judge decides when these receipts are compared."""
    noted: dict[Pair, None] = {}

    def note(field: str, first: str, second: str) -> bool:
        pair = Pair(field, first, second)
        if not pair.is_hopeless:
            noted[pair] = None
        return False

    for rule in RULES:
        if rule.kind == "semantic":
            values = gold.get(rule.name), prediction.get(rule.name)
            compare_field(rule, *values, Protocol(judge=note))
    return list(noted)


def field_question(pair: Pair, prompt: Prompt = FIELDS) -> Question[FieldAnswer]:
    sections = {"FIELD": pair.field, "REFERENCE": pair.gold, "READING": pair.prediction}
    return Question(prompt, FieldAnswer, sections, _MOST_OUTPUT)
