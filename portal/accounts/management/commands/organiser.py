"""`manage.py organiser EMAIL [--withdraw]`: gives the role to an account, or takes it away."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.accounts.access import make_organiser, withdraw_organiser
from portal.accounts.models import User
from portal.web.refusals import Refused


class Command(BaseCommand):
    help = "Make an account an organiser, or withdraw the role."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="The email address of the account.")
        parser.add_argument("--withdraw", action="store_true", help="Withdraw the role.")

    def handle(self, *_: Any, **options: Any) -> None:
        email = options["email"].strip()
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"there is no account with the email address {email}")
        change = withdraw_organiser if options["withdraw"] else make_organiser
        try:
            change(user=user)
        except Refused as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(
            f"{user.email} is {'no longer ' if options['withdraw'] else ''}an organiser"
        )
