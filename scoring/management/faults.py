"""How a management command ends with a fault of the command `factboard`."""

import sys
from typing import NoReturn

from django.core.management.base import BaseCommand, CommandError

from scoring.offline.terminal import CommandFault, Failure


def end_command(command: BaseCommand, fault: CommandFault) -> NoReturn:
    """Prints the fault and exits with its code."""
    if isinstance(fault, Failure):
        raise CommandError(str(fault)) from fault
    for message in fault.messages:
        command.stderr.write(message)
    sys.exit(fault.code)
