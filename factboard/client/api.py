"""Typed calls of a site's REST API, and downloads, which are checked before they get their name.

`ENDPOINTS` names every path, query and form field that the client uses; a test checks them and the
answers' fields against the site's OpenAPI document.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx2
from pydantic import BaseModel, ValidationError

from portal.datasets.releases.publishing.verify import verify_release
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.offline.terminal import Failure

from .connection import BadDownloadError, Connection, Send, UnreachableError, parsed
from .models import (
    Board,
    BoardLine,
    BoardPage,
    Check,
    Comparison,
    Leaderboard,
    ModelCard,
    Release,
    Submission,
)

# --- downloads ----------------------------------------------------------------------------------

_MEGABYTE = 1 << 20
# A site that the user chose is trusted with disk space, not with memory.
LIMITS = ArchiveLimits(
    total=200 * 1024 * _MEGABYTE, member=256 * _MEGABYTE, ratio=2000, members=5_000_000
)
# The number of faults that an error names.
_NAMED = 10


@dataclass(frozen=True)
class Download:
    """A kept file. `is_whole`: the release's hash covers everything in it, which needs all gold;
    always false for a starter kit. `unread`: files that could not be compared with the items."""

    path: Path
    size: int
    files: int
    is_whole: bool = False
    hidden: int = 0
    unread: tuple[str, ...] = ()


def keep(response: httpx2.Response, path: Path, expected: str | None) -> Download:
    """Stores the body under `path` after checking it: against `expected`, the hash of a release, or
    as a plain ZIP if it is None. Raises BadDownloadError, and keeps nothing then."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _partial(path) as (partial, file):
            for piece in response.iter_bytes(_MEGABYTE):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            download = _verified(partial, path, expected)
            partial.replace(path)
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from error
    return download


@contextmanager
def _partial(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A file next to `path` that is removed unless it was renamed."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        with partial.open("xb") as file:
            yield partial, file
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


def _verified(partial: Path, path: Path, expected: str | None) -> Download:
    size = partial.stat().st_size
    if expected is None:
        return Download(path, size, _read_members(partial))
    check = verify_release(partial, expected=expected, limits=LIMITS)
    if check.faults:
        messages = [str(fault).replace(partial.name, path.name) for fault in check.faults]
        more = len(messages) - _NAMED
        raise BadDownloadError(
            [f"{path.name} does not match the hash of its release and was discarded:"]
            + messages[:_NAMED]
            + ([f"and {more:,} more"] if more > 0 else [])
        )
    return Download(path, size, check.files, check.is_whole, check.hidden, tuple(check.unread))


def _read_members(partial: Path) -> int:
    """Reads every member, whose checksums show a damaged file; returns how many there are."""
    try:
        with open_archive(partial, LIMITS) as archive:
            members = list(archive.members())
            for member in members:
                for _ in archive.pieces(member.name):
                    pass
    except ArchiveFault as fault:
        raise BadDownloadError([f"The download is damaged and was discarded: {fault}"]) from fault
    return len(members)


# --- calls --------------------------------------------------------------------------------------

Answer = TypeVar("Answer", bound=BaseModel)
Query = Mapping[str, str | int | bool | list[str]]
_API = "/api/v1"
_ZIP = "application/zip"


class Endpoint(NamedTuple):
    method: str
    path: str
    answer: type[BaseModel] | str
    """The model of the answer, or the media type of a file."""
    query: frozenset[str] = frozenset()
    form: frozenset[str] = frozenset()


_CARD = frozenset(ModelCard.model_fields)
_FILTERS = frozenset({"phase", "view", "part", "sort", "kind", "category", "q", "verified"})
_FILTERS |= {"format", "limit", "offset"}
_SUBMIT = frozenset({"file", "manifest", "phase", "team", "key", "accept_missing", "accept_terms"})
_RELEASE = "/datasets/{slug}/releases/{version}/"

ENDPOINTS: Final = {
    "boards": Endpoint("GET", "/boards/", BoardPage, frozenset({"limit", "offset"})),
    "board": Endpoint("GET", "/boards/{slug}/", Board),
    "leaderboard": Endpoint("GET", "/boards/{slug}/leaderboard/", Leaderboard, _FILTERS),
    "compare": Endpoint(
        "GET", "/boards/{slug}/compare/", Comparison, frozenset({"entries", "submissions"})
    ),
    "check": Endpoint(
        "POST", "/boards/{slug}/check/", Check, form=frozenset({"file", "manifest", "phase"})
    ),
    "submit": Endpoint("POST", "/boards/{slug}/submissions/", Submission, form=_SUBMIT | _CARD),
    "submission": Endpoint("GET", "/submissions/{id}/", Submission),
    "publish": Endpoint("POST", "/submissions/{id}/publish/", Submission),
    "release": Endpoint("GET", _RELEASE, Release),
    "download": Endpoint("GET", f"{_RELEASE}download/", _ZIP, frozenset({"images"})),
    "starter_kit": Endpoint("GET", f"{_RELEASE}starter-kit/", _ZIP),
    "accept_licence": Endpoint(
        "POST", f"{_RELEASE}accept-licence/", BaseModel, form=frozenset({"version"})
    ),
}


class Client:
    """One site, with or without a token. Use it in a `with` statement, or call `close`.

    Methods raise SiteError (see `connection`), whose messages are those of the site.
    """

    def __init__(
        self,
        site: str,
        token: str = "",
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = Connection(site, token, transport=transport, sleep=sleep)
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"Client({self.site!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    @property
    def site(self) -> str:
        return self._connection.site

    def close(self) -> None:
        self._connection.close()

    # --- reading --------------------------------------------------------------------------------

    def boards(self) -> list[BoardLine]:
        """All boards that the token may see."""
        lines: list[BoardLine] = []
        while True:
            page = self._get("boards", BoardPage, {"limit": 100, "offset": len(lines)})
            lines += page.results
            if page.next is None or not page.results:
                return lines

    def board(self, slug: str) -> Board:
        return self._get("board", Board, slug=slug)

    def leaderboard(self, slug: str, **filters: str | bool | list[str]) -> Leaderboard:
        """The table of a board. Filters: phase, view, part, sort, kind, category, q, verified. All
        rows, unless `limit` or `offset` are given."""
        table = self._get("leaderboard", Leaderboard, filters, slug=slug)
        if filters.keys() & {"limit", "offset"}:
            return table
        while (there := sum(len(section.rows) for section in table.sections)) < table.shown:
            rest = {**filters, "offset": str(there)}
            page = self._get("leaderboard", Leaderboard, rest, slug=slug)
            if not page.sections:
                break
            table = table.extended(page)
        return table

    def leaderboard_csv(self, slug: str, **filters: str | bool | list[str]) -> str:
        """The same table as the site's CSV file."""
        endpoint, path = _place("leaderboard", {"slug": slug})
        query = _checked(endpoint.query, {**filters, "format": "csv"})
        return self._connection.ask("GET", path, lambda: {"params": query}).decode("utf-8")

    def release(self, dataset: str, version: str) -> Release:
        return self._get("release", Release, slug=dataset, version=version)

    def submission(self, number: int) -> Submission:
        return self._get("submission", Submission, id=number)

    def compare(self, *submissions: int, most_waits: int = 60) -> Comparison:
        """Published submissions of one board, compared with the first of them. Waits until the
        site has computed the tests, up to about two minutes."""
        board = self.submission(submissions[0]).board
        numbers = ",".join(map(str, submissions))
        for _ in range(most_waits):
            comparison = self._get("compare", Comparison, {"submissions": numbers}, slug=board)
            if comparison.is_ready or not comparison.is_exact:
                break
            self._sleep(2)
        return comparison

    # --- downloads ------------------------------------------------------------------------------

    def pull(self, dataset: str, version: str, to: Path, *, images: bool = True) -> Download:
        """Downloads a release into the folder `to` and checks it against its hash. The file gets
        its name only once it is complete and checked."""
        release = self.release(dataset, version)
        expected = f"{release.scheme}:{release.sha256}" if release.sha256 else ""
        endpoint, path = _place("download", {"slug": dataset, "version": version})
        query = _checked(endpoint.query, {"images": images})
        with self._connection.stream("GET", path, lambda: {"params": query}) as response:
            return keep(response, to / f"{dataset}-{version}.zip", expected)

    def starter_kit(self, dataset: str, version: str, to: Path) -> Download:
        """Downloads the starter kit: ids, prompts and images of the items with hidden gold."""
        _, path = _place("starter_kit", {"slug": dataset, "version": version})
        with self._connection.stream("GET", path) as response:
            return keep(response, to / f"{dataset}-{version}-starter-kit.zip", None)

    def accept_licence(self, dataset: str, version: str) -> None:
        """Accepts the licence of a release in the name of the token's owner."""
        _, path = _place("accept_licence", {"slug": dataset, "version": version})
        self._connection.ask("POST", path, lambda: {"json": {"version": version}})

    # --- submitting -----------------------------------------------------------------------------

    def check(
        self, board: str, file: Path, *, manifest: Path | None = None, phase: str = ""
    ) -> Check:
        """Checks a file as the site does for a submission; nothing is stored."""
        fields = {"phase": phase} if phase else {}
        return self._send("check", Check, fields, _files(file, manifest), slug=board)

    def submit(
        self,
        board: str,
        file: Path,
        card: ModelCard | None = None,
        *,
        manifest: Path | None = None,
        phase: str = "",
        team: str = "",
        accept_missing: bool = False,
        accept_terms: bool = False,
    ) -> Submission:
        """Submits a file. Raises RefusedError with every fault of the file, and then stores
        nothing. Sending it again after a broken connection makes no second submission."""
        fields = (card or ModelCard()).fields_to_send()
        fields |= {"key": uuid4().hex}
        fields |= {name: value for name, value in (("phase", phase), ("team", team)) if value}
        given = {"accept_missing": accept_missing, "accept_terms": accept_terms}
        fields |= {name: "true" for name, is_given in given.items() if is_given}
        return self._send("submit", Submission, fields, _files(file, manifest), slug=board)

    def publish(self, number: int) -> Submission:
        """Publishes the result on the leaderboard."""
        endpoint, path = _place("publish", {"id": number})
        return _read(Submission, self._connection.ask(endpoint.method, path))

    def watch(self, number: int, every: float = 2.0) -> Iterator[Submission]:
        """The submission now and after each change, until its grading has ended."""
        before: Submission | None = None
        while True:
            submission = self.submission(number)
            if submission != before:
                yield submission
            if submission.grading is not None and submission.grading.has_ended:
                return
            before = submission
            self._sleep(every)

    # --- requests -------------------------------------------------------------------------------

    def _get(
        self, name: str, model: type[Answer], query: Query | None = None, **place: str | int
    ) -> Answer:
        endpoint, path = _place(name, place)
        wanted = _checked(endpoint.query, query or {})
        return _read(model, self._connection.ask("GET", path, lambda: {"params": wanted}))

    def _send(
        self,
        name: str,
        model: type[Answer],
        fields: Mapping[str, str],
        files: Mapping[str, Path],
        **place: str | int,
    ) -> Answer:
        endpoint, path = _place(name, place)
        _checked(endpoint.form, {**fields, **dict.fromkeys(files, "")})
        with ExitStack() as stack:
            opened = {key: stack.enter_context(file.open("rb")) for key, file in files.items()}

            def send() -> Send:
                for file in opened.values():
                    file.seek(0)
                named = {key: (files[key].name, file) for key, file in opened.items()}
                return {"data": dict(fields), "files": named}

            body = self._connection.ask(endpoint.method, path, send, repeatable=True)
        return _read(model, body)


def _files(file: Path, manifest: Path | None) -> dict[str, Path]:
    return {"file": file} | ({"manifest": manifest} if manifest else {})


def _place(name: str, values: Mapping[str, str | int]) -> tuple[Endpoint, str]:
    endpoint = ENDPOINTS[name]
    quoted = {key: quote(str(value), safe="") for key, value in values.items()}
    return endpoint, _API + endpoint.path.format_map(quoted)


def _checked(known: frozenset[str], given: Query) -> dict[str, Any]:
    """The parameters as a request sends them. Raises TypeError for an unknown one."""
    if unknown := given.keys() - known:
        raise TypeError(f"unknown parameters: {', '.join(sorted(unknown))}")
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in given.items()
    }


def _read(model: type[Answer], data: bytes) -> Answer:
    try:
        return model.model_validate(parsed(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UnreachableError(
            [
                f"Unexpected response ({where}: {first['msg']}). If the site is newer, update "
                "factboard."
            ]
        ) from None
