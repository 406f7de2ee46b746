"""The last step of a document: gold. Settling, adjudication and review all end here."""

from django.utils import timezone

from annotation.models import CampaignDocument
from portal.audit.models import record_event

from .reviewing import open_due_round


def make_gold(*, campaign_document: CampaignDocument) -> str:
    """Makes a document without open cases gold, which may make a domain review due.

    Returns its stage. Runs in the caller's transaction, which must hold the lock of the document's
    row.
    """
    campaign_document.stage = CampaignDocument.Stage.GOLD
    campaign_document.gold_at = timezone.now()
    campaign_document.save(update_fields=["stage", "gold_at"])
    record_event(verb="make_gold", subject=campaign_document)
    open_due_round(campaign=campaign_document.campaign)
    return str(campaign_document.stage)
