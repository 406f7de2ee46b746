"""Each role follows links to every page of the site, on a small screen.

The list of pages comes from the URL configuration. The test names each page that no link reaches.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from playwright.sync_api import Browser

from tests.jobs import processes

from .site import Site, logged_in
from .walking import Seen, Walk

pytestmark = [pytest.mark.browser, pytest.mark.processes]

# The lead and the reviewer of the sample campaign are also experts for the sample board's judge.
ROLES = ["", "annotator1", "annotator5", "lead", "reviewer", "researcher", "organiser"]
_NARROW = {"width": 390, "height": 900}

# Objects that the sample lacks, created by the services that the pages use.
WORLD = """
from portal.accounts.account_data import request_export
from portal.accounts.models import User
from portal.accounts.teams.services import make_team
from portal.datasets.models import Dataset, DatasetTask, ReleaseItem
from portal.datasets.dataset_tasks import start_task
from portal.datasets.disputes.services import raise_dispute
from portal.datasets.curation.services import store_pairs
from portal.datasets.curation.services import DrawSpec, create_selection
from scoring.models import Board
from scoring.reported.services import add_row

olga = User.objects.get(email="organiser@factboard.example")
rae = User.objects.get(email="researcher@factboard.example")
dataset = Dataset.objects.get(slug="sample")
make_team(name="Readers of pages", actor=rae)
request_export(user=rae)
draw = DrawSpec(strata=("doc_type",), size=3, per_stratum=None)
create_selection(dataset=dataset, title="Three pages", spec=draw, seed=1, actor=olga)
first, second = dataset.documents.order_by("pk")[:2]
store_pairs(dataset=dataset, pairs={(first.pk, second.pk): 0.9})
start_task(dataset=dataset, kind=DatasetTask.Kind.PII, actor=olga)
item = ReleaseItem.objects.filter(release__dataset=dataset).order_by("pk").first()
raise_dispute(item=item, fact=0, claim="1,234", reason="So the image says.", actor=rae)
row = {"name": "A paper's system", "provenance": "A paper, Table 1", "scores": {"ffa": 0.5}}
add_row(board=Board.objects.get(slug="sample"), row=row, actor=olga)
print(1)
"""
DUE = """
from django.utils import timezone
from portal.jobs.models import Job
print(Job.objects.unfinished().filter(not_before__lte=timezone.now()).count())
"""
COMMANDS = (
    "derive_variant sample --kind off_axis --documents sample-fs-01",
    "freeze_release sample 1.1.0 --gold sample/data/gold --visibility public --licence CC-BY-4.0",
    "regrade sample-accounts",
)

_EMAIL = "its link is in an email"
_FORM = "a form leads to it"
_SECOND_FACTOR = "for accounts with a second factor: tests/accounts/test_two_factors.py"
NOT_REACHED = {
    "account_confirm_email": _EMAIL,
    "account_reset_password_from_key": _EMAIL,
    "invitations:invitation": _EMAIL,
    "account_email_verification_sent": _FORM,
    "account_reset_password_done": _FORM,
    "account_reset_password_from_key_done": _FORM,
    "annotation:suggestions-csv": "only once annotators have submitted pages with suggestions",
    "scoring:model-run": "the sample has no run of a model",
    "scoring:submission-manifest": "the sample's submissions have no run manifest",
    "account_inactive": "login redirects deactivated accounts to it",
    "account_logout": "the menu has a button for it",
    "account_set_password": "only for accounts without a password",
    "account_confirm_login_code": "login by code is disabled",
    "mfa_authenticate": _SECOND_FACTOR,
    "mfa_reauthenticate": _SECOND_FACTOR,
    "mfa_deactivate_totp": _SECOND_FACTOR,
    "mfa_view_recovery_codes": _SECOND_FACTOR,
    "mfa_generate_recovery_codes": _SECOND_FACTOR,
    "mfa_download_recovery_codes": _SECOND_FACTOR,
    "home:healthz": "for monitoring",
    "scoring:board-compare-facts": "the comparison of chosen rows links to it",
    "scoring:submission-bibtex": "private submissions link to it; public ones to “Cite and export”",
    "scoring:submission-item-rendered": "in frames of some items: tests/e2e/test_pages.py",
    "scoring:chart-library": "a script fetches it: tests/scoring/leaderboard/test_chart_browser.py",
}

# Links redirect there only some minutes after login, so a quick walk does not reach it.
MET_BY_SLOW_WALKS = {"account_reauthenticate"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("every-page")) as site:
        site.prepare(sample=True)
        assert site.shell(WORLD) == 1
        for command in COMMANDS:
            site.command(*command.split())
        site.start()
        processes.wait_until(lambda: site.shell(DUE) == 0, seconds=120, what="no job is due")
        yield site


@pytest.fixture(scope="module")
def walk_of(site: Site, browser: Browser) -> Callable[[str], Walk]:
    """Returns the walk of a role. Each role walks once."""
    walks: dict[str, Walk] = {}
    seen: Seen = set()

    def walk(who: str) -> Walk:
        if who not in walks:
            context = logged_in(browser, site, who, viewport=_NARROW)
            starts = ["/start/", "/"] if who else ["/"]
            walks[who] = Walk(who or "public", context, site.url, seen).take(*starts)
        return walks[who]

    return walk


@pytest.mark.parametrize("who", ROLES)
def test_no_page_has_an_error(walk_of: Callable[[str], Walk], who: str) -> None:
    assert walk_of(who).faults == []


def test_links_lead_to_every_page(walk_of: Callable[[str], Walk]) -> None:
    met = set().union(*(walk_of(who).met for who in ROLES))
    pages = set(_pages(get_resolver()))
    assert pages - met - set(NOT_REACHED) - MET_BY_SLOW_WALKS == set(), (
        "no link leads to these pages: add a link, or a reason to NOT_REACHED"
    )
    assert met & set(NOT_REACHED) == set(), "links lead to these pages: shorten NOT_REACHED"
    assert set(NOT_REACHED) - pages == set(), "no such pages: shorten NOT_REACHED"


def _pages(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """Yields the names of URL patterns that accept GET, without those of the API and the admin."""
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            if each.namespace != "admin":
                yield from _pages(each, f"{prefix}{each.namespace}:" if each.namespace else prefix)
        elif each.name and _accepts_get(each):
            name = prefix + each.name
            if not name.startswith("api:") or name in {"api:docs", "api:operation", "api:schema"}:
                yield name


def _accepts_get(pattern: URLPattern) -> bool:
    """Reads the allowed methods from the view's decorators or class. The default is GET."""
    view: Any = pattern.callback
    while view is not None:
        if hasattr(view, "view_class"):
            return hasattr(view.view_class, "get")
        closure = inspect.getclosurevars(view).nonlocals if inspect.isfunction(view) else {}
        if "request_method_list" in closure:
            return "GET" in closure["request_method_list"]
        view = getattr(view, "__wrapped__", None)
    return True
