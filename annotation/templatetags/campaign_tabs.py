"""The navigation between the pages of a campaign."""

from django import template
from django.urls import reverse

from annotation.access import CampaignAccess
from portal.web.tabs import Group, Navigation, Tab, navigation

register = template.Library()


@register.simple_tag
def campaign_navigation(access: CampaignAccess, current: str, below: object) -> Navigation:
    """The pages that the user may open, and the page shown, whatever the user's role."""

    def tab(name: str, label: str, *, shown: bool, route: str = "") -> Tab:
        url = reverse(f"annotation:{route or name}", args=[access.campaign.slug])
        return Tab(name, label, url, shown or name == current)

    lead, manages = access.is_lead, access.may_manage
    work = (
        tab("waiting", "Open tasks", shown=manages),
        tab("screening", "Screening", shown=access.campaign.screening),
        tab("validation", "Validation", shown=lead),
        tab("adjudication", "Adjudication", shown=lead),
        tab("review", "Review", shown=lead or access.is_reviewer),
    )
    documents = (
        tab("documents", "All documents", shown=manages),
        tab("assignments", "Assignments", shown=manages),
        tab("suggestions", "Suggestions", shown=manages),
    )
    quality = (
        tab("agreement", "Agreement", shown=manages),
        tab("quality", "Annotators", shown=lead, route="annotator-quality"),
        tab("qualification", "Qualification", shown=manages),
    )
    results = (
        tab("release", "Release", shown=manages),
        tab("export", "Import and export", shown=manages),
    )
    settings = (
        tab("settings", "General", shown=manages, route="campaign-settings"),
        tab("people", "People", shown=manages),
    )
    groups = (
        Group("", (tab("overview", "Overview", shown=True, route="campaign"),)),
        Group("", (tab("guidelines", "Guidelines", shown=True),)),
        Group("Work", work),
        Group("Documents", documents),
        Group("Quality", quality),
        Group("Results", results),
        Group("Settings", settings),
    )
    return navigation(groups, current, below=bool(below))
