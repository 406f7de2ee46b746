"""`factboard pull`: downloads a release or a starter kit, and checks it."""

import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from factboard.client.downloads import Download
from factboard.client.settings import add_site_arguments, open_client
from scoring.offline.terminal import add_command, printable

from .reading import print_json

_EXAMPLES = """examples:
  factboard pull my-dataset 1.0.0 --to data
  factboard pull my-dataset 1.0.0 --starter-kit"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "pull", "download a release and check its hash", _EXAMPLES)
    parser.add_argument("dataset", help="the dataset's name in its URL")
    parser.add_argument("version", help="of the release, such as 1.0.0")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the folder")
    parser.add_argument(
        "--starter-kit",
        action="store_true",
        help="the ids, prompts and images of the items with hidden gold, to run a model on",
    )
    parser.add_argument("--no-images", action="store_true", help="a release without its images")
    parser.add_argument(
        "--accept-licence", action="store_true", help="accept the licence of the release"
    )
    add_site_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
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
        words += ", matches the hash of the release"
    elif done.hidden:
        words += f", without the gold of {done.hidden:,} items, which the release's hash needs"
    if done.unread:
        words += f"; not compared with the items without pyarrow: {', '.join(done.unread)}"
    return words
