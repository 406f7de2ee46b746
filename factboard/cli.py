"""The command `factboard`.

Each subcommand is a module with `add_parser(commands)`, which sets `run` to a function that takes
the parsed arguments and returns the exit code.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from factboard import comparing, exporting, running, site, suggesting
from scoring.offline import grading
from scoring.offline.terminal import BAD_INPUT, FAILURE, STOPPED, CommandFault, printable

# In the order of the help.
_COMMANDS = (running, grading, site, comparing, exporting, suggesting)

_EXIT_CODES = f"""exit codes:
  0    success
  {FAILURE}    failure: the site did not respond, grading failed, items have no answer, or
       `check` found errors
  {BAD_INPUT}    bad input: an invalid option or file, or the site rejected the request
  {STOPPED}  stopped by Ctrl-C

`factboard COMMAND --help` shows the options of a command, with an example."""


def parser() -> ArgumentParser:
    root = ArgumentParser(
        prog="factboard",
        description="Run models on a benchmark, grade their output, and submit it to a site.",
        epilog=_EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for each in _COMMANDS:
        each.add_parser(commands)
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
        return STOPPED
    return code
