"""`factboard grade` with the settings of the site, such as its sentence embedding."""

from argparse import Namespace
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from scoring.management.faults import end_command
from scoring.offline import grading
from scoring.offline.terminal import CommandFault


class Command(BaseCommand):
    help = grading.HELP
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        grading.add_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            grading.grade(Namespace(**options), self.stdout, self.stderr)
        except CommandFault as fault:
            end_command(self, fault)
