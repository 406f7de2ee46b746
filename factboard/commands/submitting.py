"""`factboard submit`, `check` and `watch`."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factboard.client import Client, ModelCard
from factboard.client.errors import fault_line
from factboard.client.models import Submission
from factboard.client.settings import add_site_arguments, open_client
from scoring.answering.manifest import MOST_BYTES, RunManifest
from scoring.offline.terminal import FAILURE, BadInput, add_command, printable, shown_value, table

from .reading import print_json

# The file that `factboard run` writes next to a submission.
MANIFEST = "manifest.json"
_EXAMPLES = """example:
  factboard submit my-board runs/my-board-qwen/submission.jsonl --watch

A manifest next to the file is sent with it and fills the model card."""


def add_parser(commands: Any) -> None:
    submit = add_command(commands, "submit", "submit a file to a board", _EXAMPLES)
    _add_file(submit)
    submit.add_argument("--team", default="", help="one of your teams")
    for name in ModelCard.model_fields:
        option = f"--{name.replace('_', '-')}"
        submit.add_argument(option, metavar="TEXT", help="a field of the model card")
    submit.add_argument("--accept-missing", action="store_true", help="also if items are missing")
    submit.add_argument("--accept-terms", action="store_true", help="accept the board's terms")
    submit.add_argument("--watch", action="store_true", help="wait until it is graded")
    submit.add_argument("--publish", action="store_true", help="wait, then publish the result")
    _add_site(submit)
    submit.set_defaults(run=_submit)

    check = add_command(
        commands,
        "check",
        "check a file as the site would, without storing it",
        "example:\n  factboard check my-board submission.jsonl",
    )
    _add_file(check)
    _add_site(check)
    check.set_defaults(run=_check)

    watch = add_command(
        commands, "watch", "follow a grading until it ends", "example:\n  factboard watch 12"
    )
    watch.add_argument("id", type=int, help="the number of the submission")
    _add_site(watch)
    watch.set_defaults(run=_watch)


def _add_file(parser: ArgumentParser) -> None:
    parser.add_argument("board", help="the board's name in its URL")
    parser.add_argument("file", type=Path, help="ZIP, JSON Lines or gzipped JSON Lines")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="the manifest of the run")
    parser.add_argument("--phase", default="", help="needed only if several phases are open")


def _add_site(parser: ArgumentParser) -> None:
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _submit(args: Namespace) -> int:
    _require_file(args.file)
    beside = args.file.with_name(MANIFEST)
    if not (args.manifest or args.name) and beside.is_file():
        raise BadInput(f"Name the model: --name TEXT, or send the run's --manifest {beside}.")
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
        _tell(f"submission {sent.id}: {client.site}/submissions/{sent.id}/")
        if not (args.watch or args.publish):
            return print_json(sent.model_dump(mode="json")) if args.json else 0
        return _follow(client, sent.id, as_json=args.json, publish=args.publish)


def _check(args: Namespace) -> int:
    _require_file(args.file)
    _manifest(args.manifest)
    with open_client(args) as client:
        found = client.check(args.board, args.file, manifest=args.manifest, phase=args.phase)
    if args.json:
        print_json(found.model_dump(mode="json"))
    else:
        lines = [found.detail or f"{found.predictions:,} predictions, no fault", *found.warnings]
        lines += [fault_line(fault.model_dump()) for fault in found.faults]
        if more := found.fault_count - len(found.faults):
            lines.append(f"and {more:,} more")
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return FAILURE if found.detail else 0


def _watch(args: Namespace) -> int:
    with open_client(args) as client:
        return _follow(client, args.id, as_json=args.json)


def _follow(client: Client, number: int, *, as_json: bool, publish: bool = False) -> int:
    """Reports progress on standard error and the end on standard output; 1 if it failed."""
    for found in client.watch(number):
        _tell(_progress(found))
    is_done = found.grading is not None and found.grading.state == "done"
    if is_done and publish:
        found = client.publish(number)
        _tell(f"published on {client.site}/boards/{found.board}/")
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif is_done:
        sys.stdout.write("".join(f"{line}\n" for line in _score_lines(client, found)))
    return 0 if is_done else FAILURE


def _progress(found: Submission) -> str:
    grading = found.grading
    if grading is None:
        return "not graded yet"
    words = f"{grading.state}: {grading.items_done:,} of {grading.items_total:,} items"
    return f"{words}: {grading.error}" if grading.error else words


def _score_lines(client: Client, found: Submission) -> Iterator[str]:
    """The figures of the board's own table. Scores may be hidden until a date."""
    scores = found.grading.scores if found.grading else {}
    columns = client.leaderboard(found.board, phase=found.phase).columns
    rows = [
        (column.label, shown_value(scores[column.key], column.unit, column.decimals))
        for column in columns
        if column.key in scores
    ]
    if rows:
        yield from table(rows)
    else:
        yield "The scores are not shown yet."


def _card(args: Namespace, manifest: RunManifest | None) -> ModelCard:
    """The card that the options give; the name of the model is that of the manifest if not."""
    given = {name: getattr(args, name) for name in ModelCard.model_fields}
    given = {name: value for name, value in given.items() if value is not None}
    if manifest is not None:
        given.setdefault("name", manifest.model)
    if not given.get("name"):
        raise BadInput(["Name the model: --name TEXT, or --manifest FILE."])
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


def _tell(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")
