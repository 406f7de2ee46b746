"""The items that a command is given: a board of a site, a file or folder, or a sample."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote, urlsplit

from factboard.client import Client
from factboard.client.models import BoardLine, Phase
from factboard.client.settings import add_site_arguments, open_client
from scoring.answering.kits import Kit, KitError, open_kit
from scoring.offline.terminal import BadInput

_OPEN = "open"
SAMPLE_FOLDER = Path(__file__).resolve().parents[1] / "sample"


class FetchError(BadInput):
    """The site has no such board, or the board no phase."""


@dataclass(frozen=True)
class FetchedKit:
    """A starter kit, or a release whose gold is public, and the phase it belongs to."""

    path: Path
    phase: str
    split: str
    """The split of the phase; empty for all items of the file."""


def fetch_kit(client: Client, board: str, to: Path | None = None) -> FetchedKit:
    """Downloads what a model needs to take part in the open phase of a board.

    Versions never change, so a file that is already in the folder is used again. Raises FetchError
    and SiteError.
    """
    folder = to or cache_folder() / quote(urlsplit(client.site).netloc, safe="")
    phase = _phase(client.boards(), board)
    visibility = client.release(phase.dataset, phase.release).visibility
    is_open = visibility == "public" or (visibility == "gold_hidden" and phase.split == "dev")
    name = f"{phase.dataset}-{phase.release}{'' if is_open else '-starter-kit'}.zip"
    if not (path := folder / name).exists():
        download = client.pull if is_open else client.starter_kit
        path = download(phase.dataset, phase.release, folder).path
    return FetchedKit(path, phase.slug, phase.split)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "factboard"


def _phase(lines: Sequence[BoardLine], board: str) -> Phase:
    """The first phase of the board that is open; if none is, its last one."""
    boards = {line.slug: line.phases for line in lines}
    if board not in boards:
        near = get_close_matches(board, boards, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise FetchError(f"board {board!r} does not exist, or you do not have access{hint}")
    if not boards[board]:
        raise FetchError(f"the board {board} has no phases")
    return next((phase for phase in boards[board] if phase.window == _OPEN), boards[board][-1])


# --- samples ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampleKit:
    """A sample benchmark of the repository: its gold and the folder of its images."""

    benchmark: str
    gold: str
    images: str


SAMPLES = {
    "sample": SampleKit("fincriticaled", "data/gold", "data/images"),
    "sample-fcmbench": SampleKit(
        "fcmbench", "benchmarks/fcmbench/source/questions.jsonl", "benchmarks/fcmbench/source"
    ),
    "sample-ccocr": SampleKit(
        "ccocr", "benchmarks/ccocr/gold/dev.jsonl", "benchmarks/ccocr/source"
    ),
    "sample-receipts": SampleKit(
        "receiptbench", "benchmarks/receiptbench/gold/dev.jsonl", "benchmarks/receiptbench/source"
    ),
    "sample-accounts": SampleKit(
        "findoc", "benchmarks/findoc/gold/dev.jsonl", "benchmarks/findoc/source"
    ),
}


def open_sample(name: str, folder: Path = SAMPLE_FOLDER) -> Kit:
    """A sample benchmark. Raises KitError outside a checkout of the repository."""
    sample = SAMPLES[name]
    if not folder.is_dir():
        raise KitError(f"{name}: samples require a checkout of the repository")
    gold, images = folder / sample.gold, folder / sample.images
    with open_kit(gold, benchmark=sample.benchmark, images=images) as kit:
        return replace(kit, dataset=name)


def add_target(parser: ArgumentParser, *, needed: bool = True) -> None:
    """The arguments that `open_target` reads."""
    parser.add_argument(
        "target",
        nargs=None if needed else "?",
        metavar="BOARD|PATH",
        help="a board (name as in its URL), a starter kit or release (ZIP or folder), a gold "
        "file, or `sample`",
    )
    files = parser.add_argument_group("files")
    files.add_argument(
        "--benchmark",
        default="",
        metavar="NAME",
        help="the benchmark, if the files do not specify it",
    )
    files.add_argument(
        "--images", type=Path, metavar="DIR", help="folder with the page images of a gold file"
    )
    add_site_arguments(parser.add_argument_group("site"))


@contextmanager
def open_target(args: Namespace) -> Iterator[tuple[str, Kit, str]]:
    """The target's name, its kit, and the phase if it is a board."""
    target, path = args.target, Path(args.target)
    if target in SAMPLES and not args.site and SAMPLE_FOLDER.is_dir():
        # A checkout has a folder of this name. From the wheel it is a board of the site.
        yield target, open_sample(target), ""
    elif path.exists() and not args.site:
        with open_kit(path, benchmark=args.benchmark, images=args.images) as kit:
            yield path.stem or path.resolve().name, kit, ""
    elif "/" in target or "." in target:
        raise FetchError(f"{target}: no such file or folder")
    else:
        with open_client(args) as client:
            fetched = fetch_kit(client, target)
        with open_kit(fetched.path, benchmark=args.benchmark) as kit:
            yield target, kit.part(fetched.split) if fetched.split else kit, fetched.phase
