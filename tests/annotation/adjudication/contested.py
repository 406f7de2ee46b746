"""A page on which three annotators differ in every possible way."""

from annotation.adjudication.services import reopen_document
from annotation.models import Campaign, Case, Span
from portal.accounts.models import User
from tests.annotation.factories import (
    comment,
    document_of,
    make_campaign,
    save,
    submit,
    text_of,
    work_of,
)

KINDS = ("value", "boundary", "label", "review", "missing", "extra")


def contested_campaign(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    """Its first page has one case of every kind, its second one more case.

    In text order: 1,200 (value), (310) (boundary), March 31, 2025 (label), Total (opened for a
    correction), 1,200 again (missing), the page's number (extra).
    """
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=2, overlap=3)
    first, again = ("Number", "1,200"), ("Number", "1,200")
    date, page = "March 31, 2025", ("Number", "Page 1")
    works = [work_of(user, campaign) for user in (ann, ben, cleo)]
    save(works[0], first, ("Number", "(310)"), ("Date", date), again, page)
    text = text_of(works[0])
    Span.objects.filter(assignment=works[0], start=text.index("1,200")).update(
        value="1200000", edited=True
    )
    boundary = Span.objects.get(assignment=works[0], quote="(310)")
    comment(works[0], "The brackets say minus.", boundary.key)
    comment(works[0], "The table is cut off.")
    submit(works[0])
    submit(works[1], first, ("Number", "310"), ("Number", date), again)
    submit(works[2], first, ("Number", "310"), ("Date", date))
    total = text.index("Total")
    reopen_document(
        campaign_document=document_of(campaign),
        start=total,
        end=total + 5,
        reason="Is the heading a fact?",
        actor=lead,
    )
    second = [work_of(user, campaign, 2) for user in (ann, ben, cleo)]
    for work, quote in zip(second, ("(310)", "310", "310"), strict=True):
        submit(work, ("Number", quote))
    return campaign


def case_of(campaign: Campaign, kind: str, number: int = 1) -> Case:
    return document_of(campaign, number).cases.get(kind=kind)
