"""Agreement between the annotators of a campaign: the page and its files."""

from typing import TypeVar

from django.http import Http404, HttpResponse

from annotation.access import managed_campaign
from annotation.api_base import campaign_page, page_view
from annotation.assignments.selectors import submissions_set_aside
from portal.accounts.access import UserRequest
from portal.datasets.responses import file_response

from .files import FORMS, NothingToShow, agreement_file
from .selectors import campaign_agreement, most_disputed
from .shapes import LEVELS, trend_chart

Choice = TypeVar("Choice", bound=str)


@page_view
def agreement(request: UserRequest, slug: str) -> HttpResponse:
    access = managed_campaign(request.user, slug)
    found = campaign_agreement(access.campaign)
    worst, texts = most_disputed(access.campaign, found, may_see_cases=access.is_lead)
    context = {
        "agreement": found,
        # A line needs two points.
        "trend": trend_chart(found) if len(found.trend.points) > 1 else None,
        "worst": worst,
        "texts": texts,
        "set_aside": submissions_set_aside(access.campaign),
    }
    return campaign_page(request, access, "agreement", "agreement/agreement.html", context)


@page_view
def agreement_export(request: UserRequest, slug: str) -> HttpResponse:
    """A file with figures, tables or a chart, chosen by the parameters `form` and `level`."""
    access = managed_campaign(request.user, slug)
    form = _chosen(request, "form", FORMS)
    level = _chosen(request, "level", LEVELS)
    try:
        found = campaign_agreement(access.campaign)
        file = agreement_file(access.campaign, found, form, level)
    except NothingToShow as error:
        raise Http404("No document counts yet.") from error
    return file_response(file)


def _chosen(request: UserRequest, name: str, choices: tuple[Choice, ...]) -> Choice:
    """The choice in the query, by default the first; raises Http404 for any other value."""
    wanted = request.GET.get(name, choices[0])
    for choice in choices:
        if choice == wanted:
            return choice
    raise Http404(f"Unknown {name}. Choose one of {', '.join(choices)}.")
