"""What those who have just frozen a release should know of it."""

from portal.datasets.models import Release
from portal.datasets.publishing.draws import draw_deviations, draw_words

from .dispute_notes import unsettled_warning
from .open_gold import open_gold_of_release


def freeze_remarks(release: Release) -> list[str]:
    """How its splits were drawn and how near they come to the wanted share."""
    remarks = [draw_words(release.draw), draw_deviations(release.draw)]
    return [remark for remark in remarks if remark]


def freeze_warnings(release: Release) -> list[str]:
    """Accepted disputes that it does not settle, and hidden gold that is public elsewhere."""
    warnings = [unsettled_warning(release.dataset), open_gold_of_release(release).words()]
    return [warning for warning in warnings if warning]
