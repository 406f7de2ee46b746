"""Whether an account's email address is known to be its owner's."""

from django.conf import settings
from django.http import HttpRequest

from .models import User


def is_email_confirmed(user: User) -> bool:
    """At most one query; where the site asks for no confirmation every address counts."""
    # Loaded here, as in `invitations.accounts_of`.
    from allauth.account.models import EmailAddress

    if settings.ACCOUNT_EMAIL_VERIFICATION == "none":
        return True
    addresses = EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True)
    return bool(addresses.exists())


def mark_confirmed(user: User) -> None:
    """For accounts that are made with a confirmed address, such as those of the sample."""
    from allauth.account.models import EmailAddress

    EmailAddress.objects.update_or_create(
        user=user, email=user.email.lower(), defaults={"verified": True, "primary": True}
    )


def send_confirmation(request: HttpRequest, user: User) -> bool:
    """Sends the email with the link again; False if one was sent a moment ago."""
    from allauth.account.internal.flows.email_verification import send_verification_email_for_user

    return bool(send_verification_email_for_user(request, user))
