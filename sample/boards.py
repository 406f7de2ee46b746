"""The sample boards of all benchmarks except FinCriticalED, each with its dataset and release.

Their gold comes from records or a file. Uses the same services as the pages.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.accounts.models import User
from portal.datasets.documents.services import create_dataset
from portal.datasets.imports.services import import_path
from portal.datasets.models import Dataset, ImportRun, Release
from portal.datasets.releases.freezing import gold_of_file, gold_of_records
from portal.datasets.releases.gold import Gold
from portal.datasets.releases.services import freeze_gold
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase, create_board, set_board_state
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase

from .acceptance import load_batches
from .parts import BENCHMARKS, TEXTS, VERSION, Cast, SampleError
from .submissions import load_submission

Form = ImportRun.Form
DEV, TEST = "dev", "test"
# The limit of the hidden part, low enough to reach it when trying out the site.
PER_DAY, IN_TOTAL, FAILED_PER_DAY, DECIMALS = 2, 5, 10, 1


@dataclass(frozen=True)
class SampleBenchmark:
    """A benchmark's sample: `sources` are the folders to import before the release,
    `has_records` says whether the gold came with them."""

    key: str
    slug: str
    title: str
    board: str
    form: str
    sources: tuple[str, ...] = ("source",)
    has_records: bool = True
    after_release: Callable[[Dataset, Path, Cast], None] | None = None

    @property
    def folder(self) -> Path:
        return BENCHMARKS / self.key

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(split for split in (DEV, TEST) if self.gold(split).exists())

    @property
    def is_hidden(self) -> bool:
        return TEST in self.splits

    def gold(self, split: str) -> Path:
        return self.folder / "gold" / f"{split}.jsonl"

    def submissions(self, split: str) -> list[Path]:
        """Submissions of real engines first: the first one is offered for trying out the board."""
        found = (self.folder / "submissions" / split).glob("*.jsonl")
        return sorted(found, key=lambda path: (path.stem.startswith("simulated"), path.stem))

    def card(self, submission: Path) -> Mapping[str, Any]:
        path = self.folder / "cards" / f"{submission.stem}.json"
        card: Mapping[str, Any] = json.loads(path.read_bytes())
        return card


SAMPLES = (
    SampleBenchmark(
        "fcmbench", "sample-fcmbench", "Sample certificates", "FCMBench (sample)", Form.FCMBENCH
    ),
    SampleBenchmark("ccocr", "sample-ccocr", "Sample pictures", "CC-OCR (sample)", Form.CCOCR),
    SampleBenchmark(
        "receiptbench",
        "sample-receipts",
        "Sample receipts",
        "ReceiptBench (sample)",
        Form.RECEIPTS,
        sources=("source/delivery-1",),
        after_release=load_batches,
    ),
    SampleBenchmark(
        "findoc",
        "sample-accounts",
        "Sample annual accounts",
        "Financial document accuracy (sample)",
        Form.PAGES,
        has_records=False,
    ),
)


def load_benchmark(sample: SampleBenchmark, cast: Cast) -> Board:
    """Create dataset, release and board with graded entries. Skips existing parts."""
    dataset = _dataset(sample, cast["organiser"])
    release = _release(sample, dataset, cast["organiser"])
    if sample.after_release:
        sample.after_release(dataset, sample.folder, cast)
    board = _board(sample, release, cast["organiser"])
    for split in sample.splits:
        phase = board.phases.get(slug=split)
        for number, path in enumerate(sample.submissions(split)):
            # Uses one of the researcher's submissions; organisers have no limits.
            owner = cast["researcher" if split == DEV or number == 0 else "organiser"]
            load_submission(phase, path, sample.card(path), owner=owner, actor=cast["organiser"])
    return board


def _dataset(sample: SampleBenchmark, organiser: User) -> Dataset:
    dataset = Dataset.objects.filter(slug=sample.slug).first() or create_dataset(
        slug=sample.slug,
        title=sample.title,
        description=_text(sample, "dataset"),
        licence="CC0-1.0",
        visibility=Dataset.Visibility.PUBLIC,
        is_sample=True,
        actor=organiser,
    )
    done = dataset.imports.filter(state=ImportRun.State.DONE).count()
    for source in sample.sources[done:]:
        run_import(dataset, sample.folder / source, sample.form, organiser)
    return dataset


def run_import(dataset: Dataset, path: Path, form: str, organiser: User) -> None:
    """Import a sample folder. Raises SampleError if anything is refused."""
    run = import_path(dataset=dataset, path=path, actor=organiser, form=form)
    refused = run.items.filter(outcome="refused").first()
    if refused is not None:
        raise SampleError(f"{refused.name}: {refused.reason}")


def _release(sample: SampleBenchmark, dataset: Dataset, organiser: User) -> Release:
    visibility = Release.Visibility
    return dataset.releases.filter(version=VERSION).first() or freeze_gold(
        dataset=dataset,
        gold=_gold(sample, dataset),
        version=VERSION,
        notes="Gold generated together with the sample documents.",
        visibility=visibility.GOLD_HIDDEN if sample.is_hidden else visibility.PUBLIC,
        licence="",
        citation={},
        splits=_splits(sample) if sample.is_hidden else None,
        actor=organiser,
    )


def _gold(sample: SampleBenchmark, dataset: Dataset) -> Gold:
    if sample.has_records:
        return gold_of_records(dataset=dataset, benchmark=sample.key, labels=())
    return gold_of_file(dataset=dataset, benchmark=sample.key, path=sample.gold(DEV), labels=())


def _splits(sample: SampleBenchmark) -> dict[str, str]:
    lines = (
        (split, json.loads(line))
        for split in sample.splits
        for line in sample.gold(split).read_text(encoding="utf-8").splitlines()
    )
    return {line["id"]: split for split, line in lines}


def _board(sample: SampleBenchmark, release: Release, organiser: User) -> Board:
    board = Board.objects.filter(slug=sample.slug).first()
    if board is None:
        board = create_board(
            slug=sample.slug,
            title=sample.board,
            benchmark=sample.key,
            description=_text(sample, "board"),
            phase=_dev_phase(sample, release),
            is_sample=True,
            actor=organiser,
        )
        if sample.is_hidden:
            add_phase(board=board, phase=_test_phase(release), actor=organiser)
        set_board_state(board=board, state=Board.State.OPEN, actor=organiser)
    load_reported(board=board, actor=organiser)
    return board


def _dev_phase(sample: SampleBenchmark, release: Release) -> NewPhase:
    return NewPhase(
        slug=DEV,
        title="Development",
        release=release,
        split=DEV if sample.is_hidden else "",
        diagnostics=Phase.Diagnostics.FACTS,
    )


def _test_phase(release: Release) -> NewPhase:
    """A phase with hidden gold: only rounded totals are shown, and scores are limited."""
    return NewPhase(
        slug=TEST,
        title="Test",
        release=release,
        split=TEST,
        diagnostics=Phase.Diagnostics.AGGREGATES,
        per_day=PER_DAY,
        in_total=IN_TOTAL,
        failed_per_day=FAILED_PER_DAY,
        score_decimals=DECIMALS,
    )


def _text(sample: SampleBenchmark, about: str) -> str:
    return (TEXTS / f"{sample.key}-{about}.md").read_text(encoding="utf-8")
