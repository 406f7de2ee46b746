"""The items of a board, downloaded from its site."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote, urlsplit

from factboard.client import Client
from factboard.client.models import BoardLine, Phase
from scoring.offline.terminal import BadInput

_OPEN = "open"


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
        raise FetchError(f"the site has no board {board!r} that you may see{hint}")
    if not boards[board]:
        raise FetchError(f"the board {board} has no phase")
    return next((phase for phase in boards[board] if phase.window == _OPEN), boards[board][-1])
