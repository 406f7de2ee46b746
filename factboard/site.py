"""The commands that ask a site: `submit`, `check`, `watch`, `pull`, `boards` and `leaderboard`."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factboard.client import Client, ModelCard
from factboard.client.api import Download
from factboard.client.connection import fault_line
from factboard.client.models import Column, Leaderboard, Row, Submission
from factboard.client.settings import add_site_arguments, open_client
from scoring.answering.manifest import MOST_BYTES, RunManifest
from scoring.offline.terminal import FAILURE, BadInput, add_command, printable, shown_value, table


def add_parser(commands: Any) -> None:
    _add_submitting(commands)
    _add_pull(commands)
    _add_reading(commands)


# --- reading ------------------------------------------------------------------------------------

# Keys of `Leaderboard.columns` beyond which a terminal is too narrow; --csv has all of them.
_MOST_COLUMNS = 8


def _add_reading(commands: Any) -> None:
    boards = _command(commands, "boards", "list the boards of a site", "boards")
    boards.set_defaults(run=_boards)

    leaderboard = _command(
        commands, "leaderboard", "print a leaderboard", "leaderboard my-board --csv"
    )
    leaderboard.add_argument("board", help="the board's name, as in its URL")
    leaderboard.add_argument("--csv", action="store_true", help="print CSV")
    for name in ("phase", "view", "part", "sort"):
        help_text = f"the value of `{name}` in the leaderboard's URL"
        leaderboard.add_argument(f"--{name}", default="", metavar="NAME", help=help_text)
    leaderboard.set_defaults(run=_leaderboard)


def _command(commands: Any, name: str, help_text: str, example: str) -> ArgumentParser:
    parser = add_command(commands, name, help_text, f"example:\n  factboard {example}")
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def print_lines(lines: Iterator[str]) -> int:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def print_json(value: Any) -> int:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    return 0


def _boards(args: Namespace) -> int:
    with open_client(args) as client:
        boards = client.boards()
    if args.json:
        return print_json([board.model_dump(mode="json") for board in boards])
    rows = [("board", "title", "benchmark", "state", "phases", "results")]
    rows += [
        (
            board.slug,
            board.title,
            board.benchmark,
            board.state,
            ", ".join(f"{phase.slug} ({phase.window})" for phase in board.phases),
            str(board.graded),
        )
        for board in boards
    ]
    return print_lines(table(rows, numbers_from=5))


def _leaderboard(args: Namespace) -> int:
    names = ("phase", "view", "part", "sort")
    filters = {name: getattr(args, name) for name in names if getattr(args, name)}
    with open_client(args) as client:
        if args.csv:
            sys.stdout.write(client.leaderboard_csv(args.board, **filters))
            return 0
        leaderboard = client.leaderboard(args.board, **filters)
    if args.json:
        return print_json(leaderboard.model_dump(mode="json"))
    return print_lines(_board_lines(leaderboard, is_sorted=bool(args.sort)))


def _board_lines(leaderboard: Leaderboard, *, is_sorted: bool) -> Iterator[str]:
    """One table per section: ranks, the main score, then the others. The rows are by rank unless
    the order was chosen."""
    main = next(column for column in leaderboard.columns if column.decides)
    ranks = [column for column in leaderboard.columns if column.is_rank]
    figures = [column for column in leaderboard.columns if not column.is_rank]
    shown = sorted(figures, key=lambda column: column.key != main.basis)[:_MOST_COLUMNS]
    for section in leaderboard.sections:
        if not section.rows:
            continue
        yield f"{section.kind}  {section.source}".rstrip()
        names = [f"{column.label} {column.group}".strip() for column in ranks]
        rows = [["model", "id", *names, *(column.label for column in shown)]]
        for row in section.rows if is_sorted else _by_rank(section.rows, main):
            cells = [_number(row.ranks.get(column.key)) for column in ranks]
            cells += [shown_value(row.values.get(c.key), c.unit, c.decimals) for c in shown]
            rows.append([row.name, _number(row.submission), *cells])
        yield from table(rows)
        yield ""
    if not any(section.rows for section in leaderboard.sections):
        yield "No results yet."
    elif len(shown) < len(figures):
        yield f"{len(figures) - len(shown)} more columns; to get all, use --csv or --json"


def _by_rank(rows: Sequence[Row], main: Column) -> list[Row]:
    """Rows that share a rank are ordered by its score, and those without a rank come last."""
    sign = -1 if main.higher_is_better else 1
    return sorted(
        rows,
        key=lambda row: (row.ranks.get(main.key) or inf, sign * (row.values.get(main.basis) or 0)),
    )


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


# --- downloads ----------------------------------------------------------------------------------

_PULL_EXAMPLES = """examples:
  factboard pull my-dataset 1.0.0 --to data
  factboard pull my-dataset 1.0.0 --starter-kit"""


def _add_pull(commands: Any) -> None:
    parser = add_command(commands, "pull", "download a release and check its hash", _PULL_EXAMPLES)
    parser.add_argument("dataset", help="the dataset's name, as in its URL")
    parser.add_argument("version", help="the version of the release, such as 1.0.0")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="folder for the download (default: the current folder)",
    )
    parser.add_argument(
        "--starter-kit",
        action="store_true",
        help="download the starter kit: IDs, prompts and images of the items with hidden gold",
    )
    parser.add_argument("--no-images", action="store_true", help="download without images")
    parser.add_argument(
        "--accept-licence", action="store_true", help="accept the licence of the release"
    )
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_pull)


def _pull(args: Namespace) -> int:
    with open_client(args) as client:
        if args.accept_licence:
            client.accept_licence(args.dataset, args.version)
        if args.starter_kit:
            done = client.starter_kit(args.dataset, args.version, args.to)
        else:
            done = client.pull(args.dataset, args.version, args.to, images=not args.no_images)
    if args.json:
        return print_json(asdict(done) | {"path": str(done.path)})
    sys.stdout.write(f"{printable(str(done.path))}: {_words(done)}\n")
    return 0


def _words(done: Download) -> str:
    words = f"{done.files:,} files, {done.size:,} bytes"
    if done.is_whole:
        words += ", hash verified"
    elif done.hidden:
        words += (
            f"; the hash cannot be verified, because the gold of {done.hidden:,} items is hidden"
        )
    if done.unread:
        words += f"; {', '.join(done.unread)} not checked, because pyarrow is not installed"
    return words


# --- submitting ---------------------------------------------------------------------------------

# The file that `factboard run` writes next to a submission.
MANIFEST = "manifest.json"
_SUBMIT_EXAMPLES = """example:
  factboard submit my-board my-run/submission.jsonl --manifest my-run/manifest.json --watch

The manifest fills in fields of the model card that you leave out."""


def _add_submitting(commands: Any) -> None:
    submit = add_command(commands, "submit", "submit predictions to a board", _SUBMIT_EXAMPLES)
    _add_file(submit)
    submit.add_argument("--team", default="", help="submit for this team (name as in its URL)")
    submit.add_argument(
        "--accept-missing", action="store_true", help="submit even if predictions are missing"
    )
    submit.add_argument("--accept-terms", action="store_true", help="accept the board's terms")
    submit.add_argument("--watch", action="store_true", help="wait for the result and print it")
    submit.add_argument(
        "--publish", action="store_true", help="wait for the result, then publish it"
    )
    _add_site(submit)
    card = submit.add_argument_group("model card")
    for name, field in ModelCard.model_fields.items():
        option = f"--{name.replace('_', '-')}"
        card.add_argument(option, metavar="TEXT", help=field.description)
    submit.set_defaults(run=_submit)

    check = add_command(
        commands,
        "check",
        "validate a file without submitting it",
        "example:\n  factboard check my-board submission.jsonl",
    )
    _add_file(check)
    _add_site(check)
    check.set_defaults(run=_check)

    watch = add_command(
        commands, "watch", "wait until a submission is graded", "example:\n  factboard watch 12"
    )
    watch.add_argument("id", type=int, help="the submission's number")
    _add_site(watch)
    watch.set_defaults(run=_watch)


def _add_file(parser: ArgumentParser) -> None:
    parser.add_argument("board", help="the board's name, as in its URL")
    parser.add_argument(
        "file", type=Path, help="the predictions: ZIP, JSON Lines or gzipped JSON Lines"
    )
    parser.add_argument(
        "--manifest", type=Path, metavar="FILE", help="the run manifest that `factboard run` wrote"
    )
    parser.add_argument("--phase", default="", help="the phase; required if several are open")


def _add_site(parser: ArgumentParser) -> None:
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _submit(args: Namespace) -> int:
    _require_file(args.file)
    beside = args.file.with_name(MANIFEST)
    if not (args.manifest or args.name) and beside.is_file():
        raise BadInput(f"Add --name TEXT, or send the run manifest: --manifest {beside}")
    card = _card(args, _manifest(args.manifest))
    with open_client(args) as client:
        sent = client.submit(
            args.board,
            args.file,
            card,
            manifest=args.manifest,
            phase=args.phase,
            team=args.team,
            accept_missing=args.accept_missing,
            accept_terms=args.accept_terms,
        )
        _say(f"submission {sent.id}: {client.site}/submissions/{sent.id}/")
        if not (args.watch or args.publish):
            return print_json(sent.model_dump(mode="json")) if args.json else 0
        return _follow(client, sent.id, as_json=args.json, publish=args.publish)


def _check(args: Namespace) -> int:
    _require_file(args.file)
    _manifest(args.manifest)
    with open_client(args) as client:
        check = client.check(args.board, args.file, manifest=args.manifest, phase=args.phase)
    if args.json:
        print_json(check.model_dump(mode="json"))
    else:
        lines = [
            check.detail or f"{check.predictions:,} predictions, no errors found",
            *check.warnings,
        ]
        lines += [fault_line(fault.model_dump()) for fault in check.faults]
        if more := check.fault_count - len(check.faults):
            lines.append(f"and {more:,} more")
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return FAILURE if check.detail else 0


def _watch(args: Namespace) -> int:
    with open_client(args) as client:
        return _follow(client, args.id, as_json=args.json)


def _follow(client: Client, number: int, *, as_json: bool, publish: bool = False) -> int:
    """Reports progress on standard error and the end on standard output; 1 if it failed."""
    for submission in client.watch(number):
        _say(_progress(submission))
    is_done = submission.grading is not None and submission.grading.state == "done"
    if is_done and publish:
        submission = client.publish(number)
        _say(f"published on {client.site}/boards/{submission.board}/")
    if as_json:
        print_json(submission.model_dump(mode="json"))
    elif is_done:
        sys.stdout.write("".join(f"{line}\n" for line in _score_lines(client, submission)))
    return 0 if is_done else FAILURE


def _progress(submission: Submission) -> str:
    grading = submission.grading
    if grading is None:
        return "not graded yet"
    words = f"{grading.state}: {grading.items_done:,} of {grading.items_total:,} items"
    return f"{words}: {grading.error}" if grading.error else words


def _score_lines(client: Client, submission: Submission) -> Iterator[str]:
    """The figures of the board's own table. Scores may be hidden until a date, or withheld."""
    scores = submission.grading.scores if submission.grading else {}
    columns = client.leaderboard(submission.board, phase=submission.phase).columns
    rows = [
        (column.label, shown_value(scores[column.key], column.unit, column.decimals))
        for column in columns
        if column.key in scores
    ]
    if rows:
        yield from table(rows)
    else:
        yield "This phase shows no scores, or not yet."


def _card(args: Namespace, manifest: RunManifest | None) -> ModelCard:
    """The card that the options give; the name of the model is that of the manifest if not."""
    given = {name: getattr(args, name) for name in ModelCard.model_fields}
    given = {name: value for name, value in given.items() if value is not None}
    if manifest is not None:
        given.setdefault("name", manifest.model)
    if not given.get("name"):
        raise BadInput(["The model has no name. Add --name TEXT or --manifest FILE."])
    try:
        return ModelCard.model_validate(given)
    except ValidationError as error:
        raise BadInput(
            [
                f"--{str(fault['loc'][0]).replace('_', '-')}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)
            ]
        ) from None


def _manifest(path: Path | None) -> RunManifest | None:
    if path is None:
        return None
    _require_file(path)
    if path.stat().st_size > MOST_BYTES:
        raise BadInput([f"{path}: is larger than {MOST_BYTES:,} bytes"])
    try:
        return RunManifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        raise BadInput([f"{path}: {where}: {fault['msg']}"]) from None


def _require_file(path: Path) -> None:
    """Raises BadInput. Nothing is sent before all files are known to be readable."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise BadInput([f"{path}: cannot be read: {error.strerror}"]) from error


def _say(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")
