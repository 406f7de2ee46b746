"""The site's navigation for base.html, and how it sends emails."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import template
from django.conf import settings
from django.template import Context
from django.urls import get_script_prefix, reverse

from portal.accounts.emails import email_route
from portal.accounts.models import User, display_name
from portal.home.selectors import takes_part_in_campaigns

register = template.Library()
register.simple_tag(email_route)

# The documentation page, and part of it, for the pages of each feature.
HELP = {
    "annotation": "quality-workflow",
    "annotation.adjudication": "quality-workflow#cases",
    "annotation.agreement": "quality-workflow#agreement",
    "annotation.assignments": "leading",
    "annotation.campaigns": "leading",
    "annotation.exchange": "quality-workflow#import-and-export",
    "annotation.qualification": "quality-workflow#qualification-and-calibration",
    "annotation.workbench": "annotating",
    "portal.accounts": "accounts",
    "allauth": "accounts",
    "portal.datasets": "curation",
    "portal.datasets.acceptance": "acceptance",
    "portal.datasets.disputes": "disputes",
    "portal.datasets.imports": "importing",
    "portal.datasets.imaging": "page-images",
    "portal.datasets.releases": "releases",
    "portal.datasets.variants": "stress-variants",
    "scoring": "leaderboards",
    "scoring.boards": "submissions#phases",
    "scoring.grading": "submissions#re-grading",
    "scoring.judging": "judge#on-the-site",
    "scoring.reliability": "judge#reliability",
    "scoring.running": "submissions#models-that-organisers-run",
    "scoring.results": "submissions#compare-results",
    "scoring.submissions": "submissions",
}


@dataclass(frozen=True)
class Link:
    label: str
    href: str
    current: str
    """The value of aria-current: "page" on the page itself, "true" below it, or empty."""


def _links(targets: Iterable[tuple[str, str]], path: str) -> list[Link]:
    return [
        Link(label, href, "page" if path == href else "true" if path.startswith(href) else "")
        for label, href in targets
    ]


@register.simple_tag
@cache
def site_version() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


@register.inclusion_tag("components/navigation.html", takes_context=True)
def navigation(context: Context) -> dict[str, Any]:
    """Sections and account links for the user; without a request, those for visitors."""
    request = context.get("request")
    path = request.path if request else ""
    user = context.get("user")
    if isinstance(user, User):
        sections, account, person = _sections_of(user), _account(), display_name(user)
    else:
        sections, account, person = _public_sections(), _entrance(), ""
    return {
        "sections": _links(sections, path),
        "account": _links(account, path),
        "person": person,
        "home": _url("home:home"),
        "logout": _url("account_logout"),
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def help_url(context: Context) -> str:
    """The documentation of this page's feature; the index for pages of no feature."""
    request = context.get("request")
    found = request.resolver_match if request else None
    feature = found.func.__module__ if found else ""
    while feature and feature not in HELP:
        feature = feature.rpartition(".")[0]
    if not feature:
        return reverse("docs:index")
    slug, _, anchor = HELP[feature].partition("#")
    url = reverse("docs:page", args=[slug])
    return f"{url}#{anchor}" if anchor else url


def _public_sections() -> list[tuple[str, str]]:
    return [("Boards", _url("scoring:boards")), ("Datasets", _url("datasets:list"))]


def _sections_of(user: User) -> list[tuple[str, str]]:
    mine = [("My submissions", _url("scoring:submissions"))]
    if takes_part_in_campaigns(user):
        mine = [
            ("My tasks", _url("annotation:tasks")),
            *mine,
            ("Campaigns", _url("annotation:campaigns")),
        ]
    return _public_sections() + mine


def _account() -> list[tuple[str, str]]:
    return [
        ("Start page", _url("home:start")),
        ("Profile and tokens", _url("accounts:account")),
        ("Teams", _url("teams:list")),
        ("Email", _url("account_email")),
        ("Password", _url("account_change_password")),
        ("Two-factor authentication", _url("mfa_index")),
    ]


def _entrance() -> list[tuple[str, str]]:
    return [("Log in", _url("account_login")), ("Sign up", _url("account_signup"))]


def _url(name: str) -> str:
    return _url_below(get_script_prefix(), name)


@cache
def _url_below(_prefix: str, name: str) -> str:
    """Cached by URL prefix, because reversing takes time on every page."""
    return reverse(name)
