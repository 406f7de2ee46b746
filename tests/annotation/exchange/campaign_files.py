"""Campaigns to export and import, and the files between them."""

import io
import json
import zipfile
from typing import Any

from django.utils import timezone

from annotation.adjudication.services import decide_case
from annotation.campaigns.people import add_member
from annotation.campaigns.services import create_campaign, edit_guidelines, open_campaign
from annotation.exchange.selectors import campaign_file
from annotation.exchange.services import keep_import, new_import, read_import
from annotation.models import Campaign, CampaignDocument, CampaignImport, Case
from annotation.review.services import open_round_now
from portal.accounts.models import User
from tests.annotation.factories import (
    comment,
    document_of,
    make_campaign,
    save,
    spans_in,
    submit,
    work_of,
)

MARKS_OF_ANN = [("Number", "1,200"), ("Number", "(310)"), ("Date", "March 31, 2025")]
MARKS_OF_BEN = [
    ("Number", "1,200"), ("Number", "310"), ("Number", "March 31, 2025"), ("Number", "1,200"),
]  # fmt: skip
SUFFIXES = {
    "labelstudio": "json",
    "tags": "zip",
    "jsonl": "jsonl",
    "full": "zip",
}


def exported(campaign: Campaign, form: str, layer: str = "gold", **options: Any) -> bytes:
    return b"".join(campaign_file(campaign, form, layer, **options).content)


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def brought_in(
    campaign: Campaign,
    data: bytes,
    form: str,
    layer: str = "gold",
    annotator: User | None = None,
    *,
    actor: User | None = None,
    people: dict[str, str] | None = None,
    accept_unplaced: int = 0,
) -> CampaignImport:
    """Imports the file as the command does."""
    campaign.refresh_from_db()
    taken = new_import(
        campaign=campaign, source_name=f"labels.{SUFFIXES[form]}", form=form, layer=layer,
        annotator=annotator, actor=actor,
    )  # fmt: skip
    content = read_import(taken, io.BytesIO(data), progress=lambda _done: None)
    return keep_import(
        campaign_import=taken, content=content, people=people, accept_unplaced=accept_unplaced
    )


def finished_campaign(ann: User, ben: User, lead: User, reviewer: User, **options: Any) -> Campaign:
    """Two gold pages with cases, comments, a second guidelines version and a review round."""
    campaign = make_campaign(
        [ann, ben], lead=lead, reviewer=reviewer, documents=2, review_pages=10, review_share=0.5,
        **options,
    )  # fmt: skip
    edit_guidelines(campaign=campaign, text="Mark **all**.", actor=lead, note="Shorter")
    for number in (1, 2):
        save(work_of(ann, campaign, number), MARKS_OF_ANN[0])
        submit(work_of(ann, campaign, number), *MARKS_OF_ANN)
        submit(work_of(ben, campaign, number), *MARKS_OF_BEN[: 2 + number])
        comment(work_of(ben, campaign, number), "Is that a date?", "number-41")
    for case in Case.objects.filter(campaign_document__campaign=campaign, state="open"):
        decide_case(case=case, choice="proposal", proposal=0, reason="By the rules.", actor=lead)
    if not campaign.review_rounds.exists():
        open_round_now(campaign=campaign, actor=lead, seed=7)
    return campaign


def empty_campaign(like: Campaign, *members: User, opened: bool = False) -> Campaign:
    """Another campaign on the same documents, without any work."""
    campaign = create_campaign(
        dataset=like.dataset, title=f"Copy of {timezone.now():%f}", labels=like.labels,
        overlap=like.overlap, guidelines="None yet.", actor=None,
    )  # fmt: skip
    Campaign.objects.filter(pk=campaign.pk).update(review_pages=0)
    campaign.refresh_from_db()
    for user in members:
        add_member(campaign=campaign, user=user, role="annotator", actor=None)
    return open_campaign(campaign=campaign, actor=None) if opened else campaign


def stages(campaign: Campaign) -> list[str]:
    documents = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")
    return [str(stage) for stage in documents.values_list("stage", flat=True)]


def line(campaign: Campaign, number: int = 1, by: str = "", *marks: tuple[str, str]) -> bytes:
    """A line with marks in a document, by default its first number."""
    text = document_of(campaign, number).document.content.text
    spans = spans_in(text, *(marks or [("Number", "1,200")]))
    row: dict[str, Any] = {"name": f"page-{number:03}", "spans": spans}
    return json.dumps(row | ({"annotator": by} if by else {})).encode() + b"\n"


def task(campaign: Campaign, **fields: Any) -> dict[str, Any]:
    """A task of Label Studio with its first number marked, not exported by this site."""
    value = {
        "start": "/p[1]/b[1]/text()[1]",
        "end": "/p[1]/b[1]/text()[1]",
        "startOffset": 0,
        "endOffset": 5,
        "globalOffsets": {"start": 16, "end": 21},
        "text": "1,200",
        "hypertextlabels": ["Number"],
    }
    result = {"id": "Xy1", "type": "hypertextlabels", "value": value | fields}
    annotation = {"id": 31, "completed_by": 4, "result": [result]}
    html = document_of(campaign).document.content.html
    return {"id": 9, "data": {"html": html}, "annotations": [annotation]}


def quotes(user: User, campaign: Campaign, number: int = 1) -> list[str]:
    work = work_of(user, campaign, number)
    return list(work.spans.order_by("start").values_list("quote", flat=True))
