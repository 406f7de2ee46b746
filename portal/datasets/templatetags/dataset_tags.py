"""The navigation between the pages of a dataset, and a filter for shares."""

from django import template
from django.urls import reverse

from portal.datasets.models import Dataset
from portal.web.markup import Group, Navigation, Tab, navigation

register = template.Library()


@register.simple_tag
def dataset_navigation(
    dataset: Dataset, manages: object, current: str, below: object
) -> Navigation:
    """The pages of the dataset that the user may open."""

    def tab(name: str, label: str, route: str = "", *, is_public: bool = False) -> Tab:
        url = reverse(f"datasets:{route or name}", args=[dataset.slug])
        return Tab(name, label, url, is_public or bool(manages))

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
        tab("acceptance", "Acceptance", "batches"),
    )
    releases = (
        tab("releases", "All releases", is_public=True),
        tab("disputes", "Disputes", is_public=True),
    )
    groups = (
        Group("", (tab("overview", "Overview", "detail", is_public=True),)),
        Group("Documents", documents),
        Group("Curation", curation),
        Group("", (tab("statistics", "Statistics", is_public=True),)),
        Group("Releases", releases),
        Group("", (tab("variants", "Variants", is_public=True),)),
    )
    return navigation(groups, current, below=bool(below))


@register.filter
def percent(share: float | None) -> str:
    """Format a share from 0 to 1 in per cent with one decimal, or a dash for None."""
    return "–" if share is None else f"{100 * share:.1f}"
