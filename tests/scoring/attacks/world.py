"""A board on hidden gold with the default settings, and ten people who attack it.

The gold of each fact is drawn with a coin. Files are graded by the benchmark's own functions, but
without a file and a job: equal items are scored once, so that a release of 859 items is graded in
milliseconds. Limits, gradings, publication and everything that is shown are those of the site.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import F

from portal.accounts.emails import mark_confirmed
from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.services import freeze_lines
from scoring.benchmarks import BENCHMARKS, ItemResult, Payload, ReadFault, Scores
from scoring.benchmarks.items import Share, largest_shares
from scoring.boards.limits import LimitReached, hold_place
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.grading.notices import message
from scoring.grading.services import Aggregate, finish_grading
from scoring.leaderboard.disclosure import ALL, steps
from scoring.leaderboard.selectors import ranked_scores
from scoring.models import Attempt, Board, Grading, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.factories import empty_dataset

from .sheets import SHEETS, Sheet

PEOPLE = 10
# A file states the first or the second reading of a fact, or nothing.
FIRST, SECOND, BLANK = 0, 1, -1
Guess = npt.NDArray[np.int8]
Shown = dict[str, float]


class OutOfAttempts(Exception):
    """No person has an attempt left in this year."""


class Knowledge(NamedTuple):
    """The knowledge of an attacker at the end.

    `decided` facts are those that the attacker is at least 90% sure about, `right` those of them
    that are right. `known` are the right ones minus the wrong ones, as guessing gives as many of
    both. `worth` counts all claims by their information: 1 for a fact that is known for sure, 0
    for a guess, less than 0 for a wrong claim.
    """

    facts: int
    decided: int
    right: int
    worth: float
    scores: int

    @property
    def known(self) -> int:
        return 2 * self.right - self.decided

    @property
    def share(self) -> float:
        return self.known / self.facts

    def __str__(self) -> str:
        return (
            f"{self.known} of {self.facts} facts known ({self.share:.2%}: {self.decided} decided, "
            f"{self.right} right), all claims worth {self.worth:.1f} facts, {self.scores} scores"
        )


SURE = 0.9
# Of all worlds: benchmark, kind of item, guesses and gold.
_results: dict[tuple[str, int, bytes, bytes], ItemResult] = {}


class World:
    """A board on one hidden release. `guess` arrays have one place per fact, item by item."""

    def __init__(self, benchmark: str, items: int, *, seed: int = 1, **settings: Any) -> None:
        self.spec, self.size = BENCHMARKS[benchmark], items
        self.options = self.spec.check_options({})
        kinds = SHEETS[benchmark]
        self.kinds = [n % len(kinds) for n in range(items)]
        self.sheets: list[Sheet] = [kinds[kind] for kind in self.kinds]
        self.starts = np.cumsum([0, *(len(sheet.readings) for sheet in self.sheets)])
        self.facts = int(self.starts[-1])
        self.random = np.random.default_rng(seed)
        self.truth = self.drawn()
        # The documentation says how they are derived.
        self.steps: dict[str, float] = {}
        self.names = [f"item-{n:03d}" for n in range(items)]
        self.release = self.freeze(empty_dataset(visibility="public"))
        self.people = [self.sign_up(f"person{n}@example{n}.org") for n in range(PEOPLE)]
        self.board = self.open_board(self.release.dataset.slug, **settings)
        # Rounding is drawn with this, so that every run gives the same scores.
        Phase.objects.filter(board=self.board).update(part_salt=f"salt {seed}")
        self.submissions: list[Submission] = []
        self._waiting = list(self.people)

    def freeze(self, dataset: Dataset, version: str = "1.0.0") -> Release:
        """Freeze the gold, hidden, in a release of this dataset."""
        lines = {self.spec_id(line): line for line in map(self.gold_line, range(self.size))}
        return freeze_lines(
            dataset=dataset,
            version=version,
            benchmark=self.spec.key,
            lines=lines,
            visibility=Release.Visibility.GOLD_HIDDEN,
        )

    def spec_id(self, line: Mapping[str, Any]) -> str:
        return ":".join(str(line[key]) for key in self.spec.id_keys)

    def gold_line(self, item: int) -> dict[str, Any]:
        return self._read_gold(
            self.sheets[item].gold(self.names[item], self._values(item, self.truth))
        )

    def _read_gold(self, line: Mapping[str, Any]) -> Payload:
        return _only(self.spec.read_gold(_file(line)))

    def _values(self, item: int, guess: Guess) -> list[str | None]:
        sheet, part = self.sheets[item], self.part(item, guess)
        return [
            None if reading == BLANK else pair[reading]
            for pair, reading in zip(sheet.readings, part, strict=True)
        ]

    def part(self, item: int, guess: Guess) -> Guess:
        return guess[self.starts[item] : self.starts[item + 1]]

    def place_of(self, fact: int) -> tuple[int, int]:
        """Return the kind of the fact's item, and its place there."""
        item = int(np.searchsorted(self.starts, fact, side="right")) - 1
        return self.kinds[item], fact - int(self.starts[item])

    def blank(self) -> Guess:
        """Return a file with an empty answer to every item."""
        return np.full(self.facts, BLANK, np.int8)

    def drawn(self) -> Guess:
        """Return a reading of every fact, drawn with a coin."""
        return self.random.integers(0, 2, self.facts).astype(np.int8)

    def lines(self, guess: Guess) -> list[dict[str, Any]]:
        """Return the file as lines."""
        return [
            sheet.prediction(name, self._values(item, guess))
            for item, (sheet, name) in enumerate(zip(self.sheets, self.names, strict=True))
        ]

    def sign_up(self, email: str) -> User:
        user = User.objects.create_user(email=email, password=None)
        mark_confirmed(user)
        return user

    def open_board(self, slug: str, release: Release | None = None, **settings: Any) -> Board:
        release = release or self.release
        phase = NewPhase(slug="test", title="Test", release=release, **settings)
        board = create_board(
            slug=slug, title=f"Board {slug}", benchmark=self.spec.key, phase=phase, actor=None
        )
        return set_board_state(
            board=board, state=Board.State.OPEN, actor=None, confirm_disclosure=True
        )

    @cached_property
    def phase(self) -> Phase:
        return Phase.objects.select_related("board", "release__dataset").get(board=self.board)

    # The attacker's year.

    def ask(self, guess: Guess, again: int = 0) -> Shown:
        """Submit a file for the next person who has an attempt left, and return what is shown.
        Files with the same guesses and another number `again` differ in what no scorer reads.
        Raises OutOfAttempts."""
        for _ in range(2):
            while self._waiting:
                try:
                    return self.shown(self.submit(self._waiting[-1], guess, again))
                except LimitReached:
                    self._waiting.pop()
            self.wait_a_day()
        raise OutOfAttempts

    def wait_a_day(self) -> None:
        self._waiting = list(self.people)
        Attempt.objects.update(
            settled_at=F("settled_at") - timedelta(days=1), held_at=F("held_at") - timedelta(days=1)
        )

    def submit(self, person: User, guess: Guess, again: int = 0) -> Submission:
        """Submit and grade a file, without parsing and storing it. Raises LimitReached."""
        with transaction.atomic():
            submission = Submission.objects.create(phase=self.phase, owner=person, name="Reader")
            hold_place(submission=submission, actor=person)
        self._grade(submission, guess, again)
        self.submissions.append(submission)
        return submission

    def _grade(self, submission: Submission, guess: Guess, again: int) -> None:
        grading = Grading.objects.create(
            submission=submission,
            release=self.release,
            signature=self.spec.signature(self.options),
            options=self.options,
            state=Grading.State.RUNNING,
            items_total=self.size,
        )
        finish_grading(
            grading=grading,
            aggregate=Aggregate(
                scores=self.scores(guess, self.truth),
                parts={},
                shares={ALL: self.shares},
                answers_sha256=sha256(guess.tobytes() + bytes([again])).hexdigest(),
            ),
        )
        self.steps = {key: step for key, step in steps(self.phase, grading).items() if step}

    @cached_property
    def shares(self) -> dict[str, Share]:
        """The shares of an item and of a fact in each figure, which the gold alone determines; see
        `test_no_file_chooses_its_steps`."""
        return self.shares_of(self.blank())

    def shares_of(self, guess: Guess) -> dict[str, Share]:
        results = self._results_of(guess, self.truth)
        added = (self.spec.contributions(result, self.options) for result in results)
        return largest_shares(added, self.spec.combined)

    def shown(self, submission: Submission) -> Shown:
        """Return the scores in the webhook of a grading, which are those of the API."""
        grading = submission.gradings.order_by("-id")[0]
        scores: Any = message(grading)["scores"]
        return {key: value for key, value in scores.items() if value is not None}

    def publish_all(self) -> list[tuple[int | None, float | None]]:
        """Publish every submission, and return the rank and the score of each on the board."""
        entries = [
            publish_submission(submission=submission, actor=submission.owner)
            for submission in self.submissions
        ]
        ranked = ranked_scores(self.board, self.phase)
        return [(ranked[entry.pk].rank, ranked[entry.pk].score) for entry in entries]

    # The scorer, which attackers have too.

    def scores(self, guess: Guess, truth: Guess) -> Scores:
        """Return the exact scores of a file if this were the gold."""
        return self.spec.aggregate(self._results_of(guess, truth), self.options)

    def _results_of(self, guess: Guess, truth: Guess) -> list[ItemResult]:
        return [self._result(item, guess, truth) for item in range(self.size)]

    def _result(self, item: int, guess: Guess, truth: Guess) -> ItemResult:
        part, gold = self.part(item, guess), self.part(item, truth)
        key = self.spec.key, self.kinds[item], part.tobytes(), gold.tobytes()
        if key not in _results:
            sheet = self.sheets[item]
            line = self._read_gold(sheet.gold("item", self._values(item, truth)))
            predicted = _only(
                self.spec.read_predictions(
                    _file(sheet.prediction("item", self._values(item, guess)))
                )
            )
            _results[key] = self.spec.score_item(line, predicted, self.options)
        return _results[key]

    def knowledge(self, belief: Mapping[int, float]) -> Knowledge:
        """Grade what an attacker believes: by fact, the probability that its second reading is the
        right one."""
        sure = {fact: p for fact, p in belief.items() if max(p, 1 - p) >= SURE}
        right = sum((p > 0.5) == self.truth[fact] for fact, p in sure.items())
        given = [p if self.truth[fact] else 1 - p for fact, p in belief.items()]
        worth = float(np.sum(1 + np.log2(np.clip(given, 1e-3, 1)))) if given else 0.0
        return Knowledge(self.facts, len(sure), int(right), worth, len(self.submissions))


def _file(line: Mapping[str, Any]) -> Any:
    file = BytesIO(json.dumps(line).encode() + b"\n")
    file.name = "file.jsonl"
    return file


def _only(lines: Iterator[Any]) -> Payload:
    (line,) = lines
    assert not isinstance(line, ReadFault), line
    payload: Payload = line.payload
    return payload
