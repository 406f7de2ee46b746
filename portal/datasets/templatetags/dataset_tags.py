"""The navigation between the pages of a dataset, and filters for names of types and for shares."""

from django import template
from django.template import Context
from django.urls import reverse

from portal.accounts.access import is_organiser
from portal.datasets.documents.statistics_page import type_name
from portal.datasets.models import Dataset
from portal.web.markup import Group, Navigation, Tab, navigation

register = template.Library()
register.filter("type_name", type_name)


# The pages without a tab of their own, by name of their URL, and the tab that they belong to.
_TAB_OF = {
    "batch": "batches",
    "batch-new": "batches",
    "bulk-edit": "table",
    "dispute": "disputes",
    "dispute-decide": "disputes",
    "dispute-new": "disputes",
    "duplicate": "duplicates",
    "import-run": "import",
    "release": "releases",
    "release-diff": "releases",
    "release-item": "releases",
    "release-new": "releases",
    "release-restore": "releases",
    "selection": "selections",
    "selection-new": "selections",
    "task": "tasks",
    "variant-new": "variants",
}


@register.inclusion_tag("components/tabs.html", takes_context=True)
def dataset_tabs(context: Context, dataset: Dataset) -> dict[str, object]:
    """The tabs of a dataset; the current one is that of the page's URL."""
    request = context["request"]
    page = request.resolver_match.url_name
    links = _navigation(
        dataset,
        manages=is_organiser(request.user),
        current=_TAB_OF.get(page, page),
        below=page in _TAB_OF,
    )
    return {"navigation": links, "label": "Dataset"}


def _navigation(dataset: Dataset, *, manages: bool, current: str, below: bool) -> Navigation:
    """The pages of the dataset that the user may open."""

    def tab(name: str, label: str, *, is_public: bool = False) -> Tab:
        url = reverse(f"datasets:{name}", args=[dataset.slug])
        return Tab(name, label, url, is_public or manages)

    documents = (
        tab("table", "All documents" if manages else "Documents", is_public=True),
        tab("import", "Import"),
        tab("images", "Images"),
        tab("tasks", "Jobs"),
    )
    curation = (
        tab("personal-data", "Personal data"),
        tab("duplicates", "Duplicates"),
        tab("content", "Required content"),
        tab("selections", "Selections"),
        tab("batches", "Acceptance"),
    )
    releases = (
        tab("releases", "All releases", is_public=True),
        tab("disputes", "Disputes", is_public=True),
    )
    groups = (
        Group("", (tab("detail", "Overview", is_public=True),)),
        Group("Documents", documents),
        Group("Curation", curation),
        Group("", (tab("statistics", "Statistics", is_public=True),)),
        Group("Releases", releases),
        Group("", (tab("variants", "Variants", is_public=True),)),
    )
    return navigation(groups, current, below=below)


@register.filter
def percent(share: float | None) -> str:
    """Format a share from 0 to 1 in per cent with one decimal, or a dash for None."""
    return "–" if share is None else f"{100 * share:.1f}"
