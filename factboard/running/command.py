"""`factboard run`: a model or an OCR engine answers every item of a benchmark."""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from pathlib import Path

from factboard.client.settings import add_site_arguments
from factboard.engines.choice import NAMES
from scoring.answering.prompts import DEFAULT
from scoring.offline.terminal import BadInput, add_calls, add_command, check_budget, positive

_EXAMPLES = """examples:
  factboard run my-board --model qwen --base-url http://127.0.0.1:8000/v1
  factboard run kit.zip --model gpt --base-url https://api.openai.com/v1 --budget 5 \\
      --price-in 2.5 --price-out 10
  factboard run sample --engine tesseract
  factboard run sample --engine command --command 'my-ocr {image}'
  factboard run sample --engine python my_model:answer

The same command continues a run that was stopped: only items without an answer are asked.
Exit codes: 0 every item has an answer, 1 some have none, 2 bad input, 130 stopped."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "run",
        "run a model or an OCR engine on a benchmark",
        _EXAMPLES,
        __doc__ or "",
    )
    parser.add_argument(
        "target",
        nargs="?",
        metavar="BOARD|PATH",
        help="a board of the site, a starter kit or release (ZIP or folder), gold with images, or "
        "sample",
    )
    parser.add_argument(
        "--engine",
        nargs="+",
        default=["openai"],
        metavar=("NAME", "MODULE:FUNCTION"),
        help=f"{', '.join(NAMES)} (default: openai)",
    )
    parser.add_argument("--out", type=Path, help="folder of the run (default: runs/TARGET-MODEL)")
    parser.add_argument("--new", action="store_true", help="set earlier answers aside, start over")
    parser.add_argument("--dry-run", action="store_true", help="show three prompts, ask nothing")
    parser.add_argument("--raw", action="store_true", help="leave the answers as they are")
    parser.set_defaults(run=run)
    _add_items(parser)
    _add_prompts(parser)
    _add_endpoint(parser)


def _add_items(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("items")
    group.add_argument("--benchmark", default="", help="where the files do not name it")
    group.add_argument("--images", type=Path, metavar="DIR", help="images of gold")
    group.add_argument("--split", default="", help="only this split, such as test")
    group.add_argument("--limit", type=positive, metavar="N", help="only the first N items")
    add_site_arguments(group)


def _add_prompts(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("prompts")
    group.add_argument(
        "--prompt",
        default=DEFAULT,
        metavar="VERSION",
        help="version of the benchmark's prompt, or own for the items' questions alone "
        "(default: %(default)s)",
    )
    group.add_argument("--prompt-file", type=Path, help="a text of your own, with $question")
    group.add_argument("--system", default="", metavar="TEXT", help="system prompt")
    group.add_argument(
        "--language", default="", help="$language in a prompt; of tesseract (default: eng)"
    )


def _add_endpoint(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("endpoint and engines")
    group.add_argument("--model", default="", metavar="NAME")
    group.add_argument("--base-url", default="", metavar="URL")
    add_calls(group, "item")
    group.add_argument(
        "--image-tokens", type=positive, default=0, metavar="N", help="of one image, if known"
    )
    group.add_argument("--command", default="", help="program with {image}, {images}, {prompt}")
    group.add_argument("--function", default="", help="module:function")


def run(args: Namespace) -> int:
    # Loading the benchmarks takes a moment, which `factboard --help` does without.
    from .session import run_session

    _arrange(args)
    return run_session(args)


def _arrange(args: Namespace) -> None:
    """`--engine` takes several words; those after its own are the function, or the target."""
    name, *rest = args.engine
    args.engine = name
    if name not in NAMES:
        raise BadInput(f"there is no engine {name!r}; there are {', '.join(NAMES)}")
    if name == "python" and rest and not args.function:
        args.function = rest.pop(0)
    if rest and args.target is None:
        args.target = rest.pop(0)
    if rest:
        raise BadInput(f"--engine {name}: {rest[0]!r} was not expected")
    if not args.target:
        raise BadInput("name a board, a starter kit, a release or a folder; or sample")
    check_budget(args)
