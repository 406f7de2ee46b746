"""`factboard export`: a board's task as a folder that lm-evaluation-harness or inspect_ai loads."""

import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from pathlib import Path

from factboard.client.settings import add_site_arguments
from scoring.answering.prompts import DEFAULT
from scoring.offline.terminal import add_command

_EXAMPLES = """examples:
  factboard export kit.zip --to inspect task/
  factboard export sample --to lm-eval task/
  factboard export kit.zip --to inspect task/ --gold gold.jsonl

With gold, the task scores the answers. A board with hidden gold gives none: the task then writes
the submission file for the board."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "export",
        "write a board's task for lm-evaluation-harness or inspect_ai",
        _EXAMPLES,
        __doc__ or "",
    )
    parser.add_argument(
        "target",
        metavar="BOARD|PATH",
        help="a board of the site, a starter kit or release (ZIP or folder), gold with images, or "
        "sample",
    )
    parser.add_argument("--to", choices=("lm-eval", "inspect"), required=True)
    parser.add_argument("out", type=Path, metavar="DIR", help="a new or empty folder")
    parser.add_argument("--gold", type=Path, help="open gold, if the target has it elsewhere")
    parser.add_argument("--benchmark", default="", help="where the files do not name it")
    parser.add_argument("--images", type=Path, metavar="DIR", help="images of gold")
    parser.add_argument("--prompt", default=DEFAULT, metavar="VERSION", help="(default: paper-1)")
    parser.add_argument("--prompt-file", type=Path, help="a text of your own, with $question")
    parser.add_argument("--language", default="", help="$language in a prompt")
    add_site_arguments(parser.add_argument_group("site"))
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    # Loading the benchmarks takes a moment, which `factboard --help` does without.
    from factboard.running.session import open_target
    from scoring.answering.prompts import named_prompts, prompt_of_file

    from .writing import gold_of, write_task

    with open_target(args) as (name, kit, _):
        prompts = (
            prompt_of_file(args.prompt_file, args.language)
            if args.prompt_file
            else named_prompts(kit.benchmark, args.prompt, kit.prompts, args.language)
        )
        with gold_of(args.target, args.gold, is_board=bool(args.site)) as gold:
            write_task(args.out, args.to, name, kit, prompts, gold)
    sys.stdout.write(f"{args.out}\n")
    return 0
