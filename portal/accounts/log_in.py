"""How somebody logs in, as the account page sums it up."""

from dataclasses import dataclass

from .confirmation import is_email_confirmed
from .models import User


@dataclass(frozen=True)
class LogIn:
    email: str
    is_confirmed: bool
    has_password: bool
    has_second_factor: bool


def log_in_of(user: User) -> LogIn:
    """Two queries."""
    # Loaded here, as in `invitations.accounts_of`.
    from allauth.mfa.models import Authenticator

    app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP)
    return LogIn(
        email=user.email,
        is_confirmed=is_email_confirmed(user),
        has_password=user.has_usable_password(),
        has_second_factor=app.exists(),
    )
