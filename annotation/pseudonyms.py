"""Names for people in files that leave the site.

A pseudonym is the same in every export of this site, so that a file says which work is one
person's, and can be brought back to that person here. It tells nobody else who it is.
"""

from collections.abc import Iterable

from django.utils.crypto import salted_hmac

from portal.accounts.models import User

_SALT = "annotation.pseudonyms"
_LENGTH = 12


def pseudonym(user_id: int) -> str:
    """`p_` and twelve hexadecimal digits, from the account's number and the site's secret key."""
    return f"p_{salted_hmac(_SALT, str(user_id), algorithm='sha256').hexdigest()[:_LENGTH]}"


def goes_by(user: User, name: str) -> bool:
    """Whether a file's name for an annotator means this person: pseudonym or e-mail address."""
    return name == pseudonym(user.pk) or name.lower() == user.email.lower()


def people_called(names: Iterable[str]) -> dict[str, User]:
    """The accounts of this site behind pseudonyms or e-mail addresses, as far as there are any."""
    wanted = {name.lower() for name in names}
    found: dict[str, User] = {}
    for user in User.objects.filter(is_active=True).order_by("pk").iterator():
        for name in (pseudonym(user.pk), user.email.lower()):
            if name in wanted:
                found[name] = user
    return found
