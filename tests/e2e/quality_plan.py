"""The plan of the quality workflow test: who labels what, and the expected results.

There are 21 pages with the same structure and different numbers. A page has 21 tokens and four
facts. The page number is not a fact. The loss includes its parentheses.
"""

import io
import zipfile
from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

NAMES = ("Ann", "Ben", "Cleo", "Dora")
PAIRS = list(combinations(NAMES, 2))
WORK = range(1, 21)
CALIBRATION = (1, 2)
EXCLUDED = 21

# Parts of a page by name: the first token, and the one after the last.
TOKENS = {
    "revenue": (3, 4), "loss": (7, 10), "bare loss": (8, 9), "date": (12, 16), "total": (18, 19),
    "page": (20, 21),
}  # fmt: skip
TOKENS_PER_PAGE = 21

Labels = dict[str, str]
FACTS: Labels = {"revenue": "Number", "loss": "Number", "date": "Date", "total": "Number"}
_NO_LOSS = {"revenue": "Number", "date": "Date", "total": "Number"}

# Labels that differ from the facts. All other annotators mark the facts.
DIFFERENT: dict[tuple[int, str], Labels] = {
    (1, "Cleo"): FACTS | {"page": "Number"},
    (1, "Dora"): {"revenue": "Number", "loss": "Number", "date": "Date"},
    (2, "Cleo"): _NO_LOSS | {"bare loss": "Number"},
    (2, "Dora"): _NO_LOSS | {"bare loss": "Number"},
    (3, "Ben"): _NO_LOSS,
    (4, "Dora"): _NO_LOSS | {"bare loss": "Number"},
    (5, "Cleo"): FACTS | {"date": "Number"},
    (6, "Dora"): FACTS | {"page": "Number"},
    (7, "Ann"): _NO_LOSS | {"bare loss": "Number"},
    (7, "Dora"): _NO_LOSS | {"bare loss": "Date"},
}
# On page 1 three of four annotators agree, which is above the threshold of 0.7. On page 2 two
# disagree with two. Pages with two annotators cannot have a majority.
CASES = {
    2: "Different start or end", 3: "Missed by some annotators", 4: "Different start or end",
    5: "Different label", 6: "Missed by some annotators", 7: "Different label",
}  # fmt: skip
# Pages 1 and 8 to 20 become gold without adjudication, in this order. The tenth of them opens the
# first review. The last page of the campaign opens the second.
DRAWN_FROM = {1: (1, *range(8, 17)), 2: (*range(2, 8), *range(17, 21))}
SHARE = 0.1
DRAWN = 4  # of 10 pages with four facts each


def name_of(number: int) -> str:
    return f"page-{number:02}"


def html_of(number: int) -> str:
    return (
        f"<p>Net revenue was <b>{quote_of('revenue', number)}</b> and the loss "
        f"{quote_of('loss', number)} as of {quote_of('date', number)}.</p><table><tr><td>Total</td>"
        f"<td>{quote_of('total', number)}</td></tr></table><p>Page {number}</p>"
    )


def text_of(number: int) -> str:
    """Returns the canonical text: all text nodes in order."""
    return (
        f"Net revenue was {quote_of('revenue', number)} and the loss {quote_of('loss', number)} "
        f"as of {quote_of('date', number)}.Total{quote_of('total', number)}Page {number}"
    )


def quote_of(part: str, number: int) -> str:
    return {
        "revenue": f"1,{200 + number}",
        "loss": f"({300 + number})",
        "bare loss": f"{300 + number}",
        "date": f"March {number}, 2025",
        "total": f"{40 + number},900",
        "page": f"{number}",
    }[part]


def value_of(part: str, number: int) -> str:
    return {
        "revenue": f"{1200 + number}",
        "loss": f"-{300 + number}",
        "date": f"2025-03-{number:02}",
        "total": f"{40 + number}900",
    }[part]


def offsets_of(part: str, number: int) -> tuple[int, int]:
    """Returns the start and end offsets in the canonical text."""
    quote, text = quote_of(part, number), text_of(number)
    start = text.rindex(quote) if part == "page" else text.index(quote)
    return start, start + len(quote)


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for number in (*WORK, EXCLUDED):
            bundle.writestr(f"pages/{name_of(number)}.html", html_of(number))
    return stream.getvalue()


def team_of(number: int) -> tuple[str, ...]:
    """Documents go to the annotators with the fewest, then to the pair that met least often."""
    cycle = [
        ("Ann", "Ben"), ("Cleo", "Dora"), ("Ann", "Cleo"),
        ("Ben", "Dora"), ("Ann", "Dora"), ("Ben", "Cleo"),
    ]  # fmt: skip
    return NAMES if number in CALIBRATION else cycle[(number - 3) % 6]


def labels_of(number: int, name: str) -> Labels:
    return DIFFERENT.get((number, name), FACTS)


def spans_of(number: int, name: str) -> list[dict[str, Any]]:
    """Returns the labels as the API accepts them."""
    found = []
    for part, label in labels_of(number, name).items():
        start, end = offsets_of(part, number)
        quote = quote_of(part, number)
        key = f"{part.replace(' ', '-')}-{number}"
        found.append({"key": key, "label": label, "start": start, "end": end, "quote": quote})
    return found


Answers = list[list[str]]


def entity_answers(number: int) -> Answers:
    """Returns the label of each annotator for every span that any of them marked."""
    marks = [labels_of(number, name) for name in team_of(number)]
    parts = sorted(set().union(*marks))
    return [[labels.get(part, "O") for labels in marks] for part in parts]


def token_answers(number: int) -> Answers:
    marks = [labels_of(number, name) for name in team_of(number)]
    return [[_answer(labels, token) for labels in marks] for token in range(TOKENS_PER_PAGE)]


def _answer(labels: Labels, token: int) -> str:
    for part, label in labels.items():
        first, end = TOKENS[part]
        if first <= token < end:
            return label
    return "O"


ANSWERS = {"entity": entity_answers, "token": token_answers}


def cohen(level: str, first: str, second: str) -> tuple[float, int]:
    """Returns Cohen's κ by scikit-learn over the pages both labelled, and the number of items."""
    answers = [
        (row[team_of(number).index(first)], row[team_of(number).index(second)])
        for number in WORK
        if {first, second} <= set(team_of(number))
        for row in ANSWERS[level](number)
    ]
    return float(cohen_kappa_score(*zip(*answers, strict=True))), len(answers)


def fleiss(level: str, size: int) -> float:
    """Returns Fleiss' κ by statsmodels over the pages with `size` annotators."""
    rows = [row for n in WORK if len(team_of(n)) == size for row in ANSWERS[level](n)]
    return float(fleiss_kappa(aggregate_raters(np.array(rows))[0]))


Fact = tuple[str, str, str, str]


def gold() -> dict[tuple[str, int], Fact]:
    """Returns the expected facts: (document, label, quote, value) by document and offset."""
    return {
        (name_of(number), offsets_of(part, number)[0]): (
            name_of(number), label, quote_of(part, number), value_of(part, number),
        )
        for number in WORK
        for part, label in FACTS.items()
    }  # fmt: skip


def drawn(number: int, seed: int) -> list[tuple[str, int]]:
    """Draws the facts of a review from the plan, by the method that its page describes."""
    names = {name_of(page) for page in DRAWN_FROM[number]}
    keys = sorted(key for key in gold() if key[0] in names)
    numbers = Random(seed)
    return sorted(key for _, key in sorted((numbers.random(), key) for key in keys)[:DRAWN])


def corrected(fact: Fact) -> Fact:
    """Returns a fact as the reviewer corrects it: another date, or a value in thousands."""
    document, label, quote, value = fact
    return document, label, quote, "2024-12-31" if label == "Date" else f"{value}000"


def work() -> Iterator[tuple[int, str]]:
    """Yields each page number with each of its annotators."""
    return ((number, name) for number in WORK for name in team_of(number))
