"""Limits of sign-ups by network and by email domain, which hold a loop that creates accounts.

Every account has its own attempts on hidden gold, so that accounts must not be free.
"""

from functools import cache
from pathlib import Path

from allauth.core import ratelimit
from django.conf import settings
from django.http import HttpRequest

from .networks import network_of

_ADVICE = (
    "Try again tomorrow, or ask an organiser to invite you. For a class or a team, the operator "
    "can allow your email domain."
)


def sign_up_refusal(request: HttpRequest, email: str) -> str:
    """Count one more account, and return why it is refused, or an empty string if it is not.

    Domains that the operator allows are not limited. Public mail services are limited only by
    network, because their users have nothing in common.
    """
    domain = email.lower().rpartition("@")[2]
    if _is_within(domain, settings.SIGN_UP_DOMAINS):
        return ""
    network = network_of(request)
    if network and not _count(request, "signup_network", network):
        limit = settings.SIGN_UPS_PER_NETWORK
        return (
            f"Within 24 hours, {limit} accounts were created from your network, which is the "
            f"limit. {_ADVICE}"
        )
    owned = registered_domain(domain)
    if owned not in mail_providers() and not _count(request, "signup_domain", owned):
        limit = settings.SIGN_UPS_PER_DOMAIN
        return (
            f"Within 24 hours, {limit} accounts with an email address of {owned} were created, "
            f"which is the limit. {_ADVICE}"
        )
    return ""


def _count(request: HttpRequest, action: str, key: str) -> bool:
    """Count the account under the action's limit in ACCOUNT_RATE_LIMITS, if it is below it."""
    return bool(ratelimit.consume(request, action=action, key=key))


def _is_within(domain: str, allowed: list[str]) -> bool:
    """Whether it is one of these domains or below one."""
    return any(domain == each or domain.endswith(f".{each}") for each in allowed)


def registered_domain(domain: str) -> str:
    """The part of a domain that someone registers, because its owner can add any number of
    subdomains: two labels, or three under a suffix such as co.uk.

    >>> registered_domain("mail.cs.example.org"), registered_domain("cs.example.ac.uk")
    ('example.org', 'example.ac.uk')
    """
    labels = domain.split(".")
    has_short_suffix = len(labels[-1]) == 2 and len(labels) > 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if has_short_suffix else labels[-2:])


@cache
def mail_providers() -> frozenset[str]:
    """The domains of large public mail services, from `mail_providers.txt`."""
    text = Path(__file__).with_name("mail_providers.txt").read_text(encoding="ascii")
    return frozenset(text.split())
