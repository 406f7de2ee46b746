"""`manage.py load_sample`: fills the site with the sample benchmark."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sample.loader import load_sample
from sample.parts import SampleError


class Command(BaseCommand):
    help = "Load the sample benchmark with its users, or the missing parts of it."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            load_sample(lambda line: self.stdout.write(f"  {line}"))
        except SampleError as error:
            raise CommandError(f"the sample was not loaded completely: {error}") from error
