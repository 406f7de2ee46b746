"""The command `factboard`.

Each subcommand is a module with `add_parser(commands)`, which sets `run` to a function that takes
the parsed arguments and returns the exit code: 0 is success, 1 a failure, 2 bad input.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module

from .errors import CommandFault
from .tables import printable

# Loaded in this order, which is that of the help.
_COMMANDS: tuple[str, ...] = (
    "factboard.running.command",
    "factboard.grading",
    "factboard.commands.submitting",
    "factboard.commands.pulling",
    "factboard.commands.reading",
    "factboard.commands.comparing",
    "factboard.exporting.command",
    "factboard.suggesting.command",
)


def parser() -> ArgumentParser:
    root = ArgumentParser(prog="factboard", description="Grade models fact by fact.")
    commands = root.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in _COMMANDS:
        import_module(name).add_parser(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    try:
        code: int = args.run(args)
    except CommandFault as fault:
        sys.stderr.write("\n".join(map(printable, fault.messages)) + "\n")
        return fault.code
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Run the same command again to continue.\n")
        return 130
    return code
