"""What was brought into a campaign, and how far the reading has come."""

from dataclasses import dataclass

from annotation.models import Campaign, CampaignImport
from portal.jobs.selectors import group_progress

IMPORTS_SHOWN = 20
FAULTS_SHOWN = 100


@dataclass(frozen=True)
class ImportRow:
    """One import; `percent` of its file is read."""

    taken: CampaignImport
    percent: int
    faults: tuple[str, ...]

    @property
    def is_cut(self) -> bool:
        return self.taken.fault_count > len(self.faults)


def import_group(campaign_import: CampaignImport) -> str:
    """The group of the import's job, by which its progress is found."""
    return f"campaign-import-{campaign_import.pk}"


def import_rows(campaign: Campaign) -> list[ImportRow]:
    """The newest imports first. One query more for each that is still going on."""
    taken = campaign.imports.select_related("created_by", "annotator")[:IMPORTS_SHOWN]
    return [ImportRow(row, _percent(row), tuple(row.faults[:FAULTS_SHOWN])) for row in taken]


def _percent(taken: CampaignImport) -> int:
    if taken.is_finished:
        return 100
    progress = group_progress(import_group(taken))
    return 100 * progress.done // progress.total if progress.total else 0
