"""What the people of the quality journey will do, planned by hand, and what has to come of it.

Twenty-one pages of the same make with numbers of their own. A page has 21 tokens and four facts;
its page number is none, and the loss is meant with its parentheses.
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

# Stretches by name: first token and the one behind the last.
TOKENS = {
    "revenue": (3, 4), "loss": (7, 10), "bare loss": (8, 9), "date": (12, 16), "total": (18, 19),
    "page": (20, 21),
}  # fmt: skip
TOKENS_PER_PAGE = 21

Labels = dict[str, str]
FACTS: Labels = {"revenue": "Number", "loss": "Number", "date": "Date", "total": "Number"}
_NO_LOSS = {"revenue": "Number", "date": "Date", "total": "Number"}

# Who differs from the facts, and how. All others mark the facts.
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
# Page 1 is settled by the majority of four, with 3 of 4 above the threshold of 0.7; on page 2 two
# stand against two, and of two annotators there is no majority.
CASES = {
    2: "Boundary differs", 3: "Missed by some", 4: "Boundary differs", 5: "Label differs",
    6: "Missed by some", 7: "Label differs",
}  # fmt: skip
# Pages that become gold before anybody adjudicates are 1 and 8 to 20, in this order; the tenth of
# them opens the first review, the last page of all the second.
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
    """The canonical text: all text nodes, one after the other."""
    return (
        f"Net revenue was {quote_of('revenue', number)} and the loss {quote_of('loss', number)} "
        f"as of {quote_of('date', number)}.Total{quote_of('total', number)}Page {number}"
    )


def quote_of(stretch: str, number: int) -> str:
    return {
        "revenue": f"1,{200 + number}",
        "loss": f"({300 + number})",
        "bare loss": f"{300 + number}",
        "date": f"March {number}, 2025",
        "total": f"{40 + number},900",
        "page": f"{number}",
    }[stretch]


def value_of(stretch: str, number: int) -> str:
    return {
        "revenue": f"{1200 + number}",
        "loss": f"-{300 + number}",
        "date": f"2025-03-{number:02}",
        "total": f"{40 + number}900",
    }[stretch]


def place_of(stretch: str, number: int) -> tuple[int, int]:
    """Offsets in the text."""
    quote, text = quote_of(stretch, number), text_of(number)
    start = text.rindex(quote) if stretch == "page" else text.index(quote)
    return start, start + len(quote)


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for number in (*WORK, EXCLUDED):
            bundle.writestr(f"pages/{name_of(number)}.html", html_of(number))
    return stream.getvalue()


def team_of(number: int) -> tuple[str, ...]:
    """Each place goes to whoever has least, then to who has met the other least often."""
    cycle = [
        ("Ann", "Ben"), ("Cleo", "Dora"), ("Ann", "Cleo"),
        ("Ben", "Dora"), ("Ann", "Dora"), ("Ben", "Cleo"),
    ]  # fmt: skip
    return NAMES if number in CALIBRATION else cycle[(number - 3) % 6]


def labels_of(number: int, name: str) -> Labels:
    return DIFFERENT.get((number, name), FACTS)


def spans_of(number: int, name: str) -> list[dict[str, Any]]:
    """The labels as the API takes them."""
    found = []
    for stretch, label in labels_of(number, name).items():
        start, end = place_of(stretch, number)
        quote = quote_of(stretch, number)
        key = f"{stretch.replace(' ', '-')}-{number}"
        found.append({"key": key, "label": label, "start": start, "end": end, "quote": quote})
    return found


Answers = list[list[str]]


def entity_answers(number: int) -> Answers:
    """For everything that anybody of the team marked: what each of them said of it."""
    marks = [labels_of(number, name) for name in team_of(number)]
    stretches = sorted(set().union(*marks))
    return [[labels.get(stretch, "O") for labels in marks] for stretch in stretches]


def token_answers(number: int) -> Answers:
    marks = [labels_of(number, name) for name in team_of(number)]
    return [[_answer(labels, token) for labels in marks] for token in range(TOKENS_PER_PAGE)]


def _answer(labels: Labels, token: int) -> str:
    for stretch, label in labels.items():
        first, behind = TOKENS[stretch]
        if first <= token < behind:
            return label
    return "O"


ANSWERS = {"entity": entity_answers, "token": token_answers}


def cohen(level: str, first: str, second: str) -> tuple[float, int]:
    """scikit-learn's κ of two annotators over the pages both labelled, and the number of items."""
    answers = [
        (row[team_of(number).index(first)], row[team_of(number).index(second)])
        for number in WORK
        if {first, second} <= set(team_of(number))
        for row in ANSWERS[level](number)
    ]
    return float(cohen_kappa_score(*zip(*answers, strict=True))), len(answers)


def fleiss(level: str, size: int) -> float:
    """statsmodels' κ over the pages that so many people labelled."""
    rows = [row for n in WORK if len(team_of(n)) == size for row in ANSWERS[level](n)]
    return float(fleiss_kappa(aggregate_raters(np.array(rows))[0]))


Fact = tuple[str, str, str, str]


def gold() -> dict[tuple[str, int], Fact]:
    """Document and offset to (document, label, quote, value), as everybody means the facts."""
    return {
        (name_of(number), place_of(stretch, number)[0]): (
            name_of(number), label, quote_of(stretch, number), value_of(stretch, number),
        )
        for number in WORK
        for stretch, label in FACTS.items()
    }  # fmt: skip


def drawn(number: int, seed: int) -> list[tuple[str, int]]:
    """The draw of a review as its page describes it, made here from the plan."""
    names = {name_of(page) for page in DRAWN_FROM[number]}
    keys = sorted(key for key in gold() if key[0] in names)
    numbers = Random(seed)
    return sorted(key for _, key in sorted((numbers.random(), key) for key in keys)[:DRAWN])


def corrected(fact: Fact) -> Fact:
    """The reviewer's correction of any fact: another day, or thousands."""
    document, label, quote, value = fact
    return document, label, quote, "2024-12-31" if label == "Date" else f"{value}000"


def work() -> Iterator[tuple[int, str]]:
    """Every page with each of its annotators."""
    return ((number, name) for number in WORK for name in team_of(number))
