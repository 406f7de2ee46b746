"""Two sites that differ only in hidden gold: all other rows, times and keys are equal.

A reader without access to the gold must receive the same from both. Tests compare whole responses,
not strings: a count, an order, a size or a header that depends on the gold differs.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Self
from unittest.mock import patch

from django.apps import apps
from django.core.cache import caches
from django.core.management.color import no_style
from django.db import connection, transaction

from portal.accounts.models import User
from portal.datasets.disputes.services import decide_dispute, raise_dispute
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import read_tags
from portal.jobs.worker import run_due_jobs
from portal.urls import urlpatterns
from scoring.models import Board, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.asking import flat
from tests.datasets.factories import LABELS, add_image
from tests.datasets.releases.worlds import shown_text
from tests.factories import empty_dataset, make_document
from tests.scoring.factories import make_board, make_submission

Pages = Mapping[str, str]


class Gold(NamedTuple):
    """The hidden pages of two releases of one site."""

    first: Pages
    second: Pages


# The text of each page, with places for the value and its tag.
_OPEN = {
    "open-1": "<p>Sales <Number>1,200</Number></p>",
    "open-2": "<p>Loss <Number>7</Number></p>",
}


def _page(name: str, value: str, *, facts: int) -> str:
    """A page with none, one or two facts."""
    marks = [
        f"<Number>{text}</Number>" if n < facts else text for n, text in enumerate((value, "2,400"))
    ]
    return f"<p>{name} veiled {marks[0]} and {marks[1]}</p>"


# Six pages: other values, twice as many facts, and corrections of other pages, more of them.
TWINS = (
    Gold(
        first={f"page-{n}": _page(f"p{n}", f"4,711,08{n}", facts=1) for n in range(6)},
        second={f"page-{n}": _page(f"p{n}", f"4,711,08{n}", facts=n != 2) for n in range(6)},
    ),
    Gold(
        first={f"page-{n}": _page(f"p{n}", f"8,355,0{n}7", facts=2) for n in range(6)},
        second={f"page-{n}": _page(f"p{n}", f"8,355,0{n}7", facts=1 + (n < 4)) for n in range(6)},
    ),
)
# Nothing in them is on a page, so that their scores are the same on both sites.
GUESSES = dict.fromkeys(TWINS[0].first, "<p>ωωωωξξξξ</p>")


class Cast(NamedTuple):
    organiser: User
    researcher: User
    ann: User


def make_site(gold: Gold, cast: Cast) -> Submission:
    """A dataset with two releases, a dispute, a board and published submissions; the first of
    them."""
    dataset = empty_dataset(slug="world", title="World", visibility="public")
    for name, html in (_OPEN | dict(gold.first)).items():
        document = make_document(dataset, name, read_tags(html, LABELS).canonical.html)
        document.company, document.fiscal_year = f"Company {html[-20:]}", 2000 + len(html)
        document.save()
        add_image(document)
    release = _freeze(dataset, "1.0.0", gold.first)
    dispute = raise_dispute(
        item=release.items.get(name="page-1"),
        fact=None,
        claim="A fact is missing",
        reason="It is on the page.",
        actor=cast.ann,
    )
    decide_dispute(dispute=dispute, accept=True, answer="Yes", actor=cast.organiser, origin="")
    _freeze(dataset, "1.1.0", gold.second)
    board = make_board(
        release,
        split="test",
        diagnostics=Phase.Diagnostics.AGGREGATES,
        score_decimals=1,
        per_day=3,
        in_total=20,
        takes_incomplete=False,
    )
    return _submissions(board, cast)


def _freeze(dataset: Dataset, version: str, pages: Pages) -> Release:
    documents = {document.name: document for document in dataset.documents.all()}
    golds = [
        GoldItem(documents[name], read_tags(html, LABELS).spans)
        for name, html in (_OPEN | dict(pages)).items()
    ]
    return freeze_release(
        dataset=dataset,
        version=version,
        items=golds,
        labels=LABELS,
        visibility=Release.Visibility.GOLD_HIDDEN,
        splits={name: "dev" if name in _OPEN else "test" for name in documents},
    )


def _submissions(board: Board, cast: Cast) -> Submission:
    """Two that are alike, and a private one."""
    made = [
        make_submission(board, cast.researcher, GUESSES, name="Reader"),
        make_submission(board, cast.ann, GUESSES | {"page-3": "<p>ξξ</p>"}, name="Other"),
        make_submission(board, cast.ann, dict.fromkeys(GUESSES, ""), name="Empty"),
    ]
    run_due_jobs()
    for submission in made[:2]:
        publish_submission(
            submission=Submission.objects.get(pk=submission.pk), actor=submission.owner
        )
    return made[0]


NOON = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)


class _Stopped(dt.datetime):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOON.timestamp(), tz)


@contextmanager
def alone() -> Iterator[None]:
    """Rolls back all rows, with the keys and the time of the last such block."""
    with transaction.atomic(), patch("django.utils.timezone.datetime", _Stopped):
        models = [model for model in apps.get_models() if model._meta.managed]
        with connection.cursor() as cursor:
            for line in connection.ops.sequence_reset_sql(no_style(), models):
                cursor.execute(line)
        for each in caches.all():
            each.clear()
        yield
        transaction.set_rollback(True)
    for each in caches.all():
        each.clear()


# Values of URL parameters on each site, by the converter and name in the route.
_VALUES: dict[str, Any] = {
    "<slug:slug>": {"datasets": "world", "boards": "board"},
    "<str:version>": "1.1.0",
    "<str:other>": "1.0.0",
    "<str:name>": {"documents": "page-2", "items": "page-2", "files": "facts.jsonl"},
    "<int:pk>": 1,
    "<int:number>": 1,
    "<slug:phase>": "test",
    "<slug:chart>": "ranks",
    "<slug:form>": {"charts": "csv", "badge": "svg"},
    "<str:side>": "gold",
    "<int:image>": 1,
}
_QUERIES = {
    "datasets": (
        "?q=4,711", "?q=page", "?facts=with", "?facts=without", "?min_facts=2", "?sort=facts",
        "?sort=-facts", "?sort=size", "?year=2050", "?release=1.0.0", "?form=facts", "?form=latex",
        "?kind=changed", "?change=changed", "?split=test", "?limit=2", "?images=1",
        "?state=accepted",
    ),
    "boards": (
        "?part=private", "?view=scores", "?sort=ffa", "?entries=1,2", "?phase=test", "?q=Reader",
        "?format=csv", "?intervals=1", "?limit=1", "?kind=graded",
    ),
    "submissions": (
        "?order=hardest", "?show=missing", "?error=missing", "?part=other", "?q=page", "?fact=0",
        "?facts=wrong", "?grading=1",
    ),
}  # fmt: skip
_PARAMETER = re.compile(r"<\w+:\w+>")


def urls() -> list[str]:
    """Every URL of datasets, boards and submissions, pages and API, and the site's own pages."""
    found = ["/", "/start/", "/annotate/"]
    for pattern in flat(urlpatterns):
        if _area(str(pattern.pattern)):
            found.append("/" + _filled(str(pattern.pattern)))
    files = ("gold.jsonl", "gold.zip", "items.parquet", "labelstudio.json", "croissant.json")
    for root in ("", "/api/v1"):
        found += [f"{root}/datasets/world/releases/1.1.0/files/{name}" for name in files]
    return list(dict.fromkeys(found))


def queries(url: str) -> list[str]:
    """The URL with each query that may ask for gold."""
    return [url + query for query in _QUERIES.get(_area(url), ())]


def _area(route: str) -> str:
    area = route.removeprefix("/").removeprefix("api/v1/").split("/")[0]
    return area if area in _QUERIES else ""


def _filled(route: str) -> str:
    def value(match: re.Match[str]) -> str:
        given = _VALUES[match[0]]
        before = re.split(r"[/.]", route[: match.start()].rstrip("/."))[-1]
        return str(
            given.get(before, next(iter(given.values()))) if isinstance(given, dict) else given
        )

    return _PARAMETER.sub(value, route)


# Parts of responses that are drawn at random.
_RANDOM = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|"X-CSRFToken": "\w+"|nonce[-=]["\w+/=-]+'
    r'|name="form_key" value="\w+"|factboard canary [0-9a-f-]{36}'
)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


def answer_of(response: Any) -> Answer:
    """All that a reader receives, and the size of it, without what is random."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    # A canary changes how far an archive is compressed.
    text = shown_text(body)[len(body) if body[:2] == b"PK" else 0 :]
    headers = {name: _RANDOM.sub("", value) for name, value in response.headers.items()}
    # That of a board contains the secret of its phases, so that no one can guess what else it does.
    headers.pop("ETag", None)
    return Answer(response.status_code, headers, _RANDOM.sub("", text))


def difference(one: Any, other: Any) -> str:
    """The first place where the texts differ."""
    texts = str(one), str(other)
    at = next(
        (n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts))
    )
    return " / ".join(repr(text[max(at - 60, 0) : at + 60]) for text in texts)
