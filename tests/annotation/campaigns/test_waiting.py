"""Open tasks by person, and reminders."""

from datetime import datetime, timedelta

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.campaigns.people import remind_person, remind_waiting
from annotation.campaigns.waiting import campaign_waiting, person_waiting
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Membership,
    Reminder,
    ReviewItem,
    ReviewRound,
)
from portal.accounts.models import User
from portal.jobs.models import Job
from portal.jobs.worker import run_due_jobs
from tests.accounts.invitations.emails import ORIGIN, email_to
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db
WAITING = "/campaigns/spring-round/waiting/"


def waits_for(campaign: Campaign, user: User) -> list[str]:
    person = person_waiting(campaign, user.pk)
    assert person is not None
    return [work.words for work in person.work]


def ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def put_in(document: CampaignDocument, stage: str, settled_at: datetime | None = None) -> None:
    CampaignDocument.objects.filter(pk=document.pk).update(stage=stage, settled_at=settled_at)


def open_review(campaign: Campaign, document: CampaignDocument, items: int) -> ReviewRound:
    made = ReviewRound.objects.create(
        campaign=campaign, number=1, seed=1, share=0.05, pages=1, facts=items, guidelines_version=1
    )
    for position in range(1, items + 1):
        ReviewItem.objects.create(
            round=made, position=position, campaign_document=document, label="Number",
            start=position, end=position + 1, quote="1",
        )  # fmt: skip
    return made


def test_annotators_wait_for_nothing_but_their_own_pages(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    submit(work_of(ann, campaign), ("Number", "1,200"))
    save(work_of(ben, campaign), ("Number", "1,200"))
    assert waits_for(campaign, ann) == ["1 document to label"]
    assert waits_for(campaign, ben) == ["2 documents to label"]
    assert waits_for(campaign, lead) == []


def test_each_role_has_its_own_work(
    disputed: Campaign, ann: User, lead: User, reviewer: User
) -> None:
    put_in(document_of(disputed, 2), "validation", timezone.now())
    open_review(disputed, document_of(disputed, 1), items=2)
    assert waits_for(disputed, lead) == ["1 document to validate", "3 cases to adjudicate"]
    assert waits_for(disputed, reviewer) == ["2 facts to review"]
    assert waits_for(disputed, ann) == []
    put_in(document_of(disputed, 2), "screening")
    assert waits_for(disputed, lead) == ["1 document to screen", "3 cases to adjudicate"]


def test_who_holds_two_roles_has_the_work_of_both(
    disputed: Campaign, ann: User, cleo: User
) -> None:
    """But no cases of documents that they annotated."""
    Membership.objects.create(campaign=disputed, user=ann, role="lead")
    assert waits_for(disputed, ann) == ["1 document to label"]
    work = work_of(ann, disputed)
    Assignment.objects.filter(pk=work.pk).update(annotator=cleo)
    assert waits_for(disputed, ann) == ["1 document to label", "3 cases to adjudicate"]


def test_closed_campaign_waits_for_no_labels(campaign: Campaign, ann: User) -> None:
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert waits_for(campaign, ann) == []


def test_who_has_to_qualify_is_waited_for_there_first(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)
    CampaignDocument.objects.filter(pk=work.campaign_document_id).update(purpose="qualification")
    assert waits_for(campaign, ann) == ["1 qualification document"]
    Membership.objects.filter(user=ann).update(qualified_at=timezone.now())
    assert waits_for(campaign, ann) == ["1 document to label"]


def test_withdrawn_work_and_members_who_left_are_not_waited_for(
    campaign: Campaign, ann: User, ben: User
) -> None:
    Assignment.objects.filter(annotator=ann).update(state=Assignment.State.WITHDRAWN)
    Membership.objects.filter(user=ben).delete()
    assert waits_for(campaign, ann) == []
    assert person_waiting(campaign, ben.pk) is None


def test_since_is_the_oldest_of_all(disputed: Campaign, ann: User, lead: User) -> None:
    Assignment.objects.filter(annotator=ann).update(created_at=ago(5.5))
    put_in(document_of(disputed, 1), "adjudication", ago(2.5))
    annotator, leader = (person_waiting(disputed, user.pk) for user in (ann, lead))
    assert annotator is not None
    assert leader is not None
    assert (annotator.days, leader.days) == (5, 2)
    names = [person.name for person in campaign_waiting(disputed).people]
    assert names == ["Ann", "Lea", "Ben", "Rita"]


def test_last_activity_is_a_day(campaign: Campaign, ann: User, ben: User, lead: User) -> None:
    save(work_of(ann, campaign), ("Number", "1,200"))
    days = {person.name: person.last_activity for person in campaign_waiting(campaign).people}
    assert days["Ann"] == timezone.now().date()
    assert type(days["Ann"]).__name__ == "date"
    assert days["Ben"] is None
    assert days["Lea"] is None


def test_work_without_a_role_for_it_is_named(disputed: Campaign, lead: User) -> None:
    Membership.objects.filter(user=lead).delete()
    assert [work.words for work in campaign_waiting(disputed).nobodys] == ["3 cases to adjudicate"]


def test_page_lists_people_and_hides_the_button_for_oneself(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    text = client_of(lead).get(WAITING).content.decode()
    assert "3 cases to adjudicate" in text
    assert 'aria-label="Remind Ann"' in text
    assert 'aria-label="Remind Lea"' not in text
    assert 'aria-label="Remind Rita"' not in text, "nothing waits for her"
    for word in ("1,200", "310", "March", "Number"):
        assert word not in text


@pytest.mark.parametrize("many", [1, 6])
def test_queries_do_not_grow_with_people_and_pages(
    many: int,
    ann: User,
    ben: User,
    cleo: User,
    lead: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    people = [ann, ben, cleo][: 1 + many // 3]
    campaign = make_campaign(people, lead=lead, overlap=1, documents=many)
    for work in Assignment.objects.filter(annotator=ann)[:many]:
        save(work, ("Number", "1,200"))
    # members · stages, cases, review items · own work, qualification, own cases · five traces ·
    # reminders
    with django_assert_num_queries(13):
        campaign_waiting(campaign)


# --- reminders ---------------------------------------------------------------------------------


def remind(campaign: Campaign, user: User, actor: User) -> Reminder:
    return remind_person(campaign=campaign, user=user, actor=actor, origin=ORIGIN)


def test_email_lists_ones_tasks(campaign: Campaign, ann: User, lead: User) -> None:
    reminder = remind(campaign, ann, lead)
    assert (reminder.waiting, reminder.sent_by) == (2, lead)
    assert mail.outbox == [], "a worker sends it"
    run_due_jobs()
    text = email_to(ann.email)
    assert "You have open tasks in the campaign “Spring round”:" in text
    assert f"- 2 documents to label, the oldest since {timezone.now():%B}" in text.replace(
        "  ", " "
    ) or ("- 2 documents to label" in text)
    assert f"{ORIGIN}/campaigns/spring-round/" in text
    assert "Lea sent you this reminder." in text
    assert mail.outbox[0].subject == "[Factboard] Open tasks: 2 documents to label"


def test_email_lists_current_tasks_and_is_not_sent_without(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    remind(campaign, ann, lead)
    remind(campaign, ben, lead)
    submit(work_of(ann, campaign, 1), ("Number", "1,200"))
    for number in (1, 2):
        submit(work_of(ben, campaign, number), ("Number", "1,200"))
    run_due_jobs()
    assert [message.to for message in mail.outbox] == [[ann.email]]
    assert "- 1 document to label" in email_to(ann.email)
    assert set(Job.objects.values_list("state", flat=True)) == {Job.State.DONE}


def test_one_email_a_day_and_campaign(
    campaign: Campaign, ann: User, ben: User, lead: User, organiser: User
) -> None:
    remind(campaign, ann, lead)
    with pytest.raises(Refused, match=r"Ann was reminded on \d{4}-\d\d-\d\d at") as refusal:
        remind(campaign, ann, organiser)
    assert refusal.value.code == "reminded"
    remind(campaign, ben, lead)
    other = make_campaign([ann], lead=lead, overlap=1, title="Autumn round")
    remind(other, ann, lead)
    Reminder.objects.update(sent_at=ago(1.01))
    remind(campaign, ann, lead)


@pytest.mark.parametrize(
    ("who", "code"), [("lead", "nothing"), ("stranger", "nothing"), ("off", "switched_off")]
)
def test_refusals_are_readable(
    campaign: Campaign, ann: User, lead: User, stranger: User, organiser: User, who: str, code: str
) -> None:
    User.objects.filter(pk=ann.pk).update(is_active=False)
    user = {"lead": lead, "stranger": stranger, "off": User.objects.get(pk=ann.pk)}[who]
    with pytest.raises(Refused) as refusal:
        remind(campaign, user, organiser)
    assert refusal.value.code == code
    assert not Reminder.objects.exists()


def test_no_one_reminds_themselves(disputed: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="cannot remind yourself"):
        remind(disputed, lead, lead)


def test_all_who_waited_so_long_are_reminded(
    disputed: Campaign, ann: User, ben: User, lead: User, organiser: User
) -> None:
    work = Assignment.objects.exclude(state=Assignment.State.SUBMITTED)
    work.filter(annotator=ann).update(created_at=ago(5.5))
    work.filter(annotator=ben).update(created_at=ago(1.5))

    def all_after(days: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = remind_waiting(campaign=disputed, days=days, actor=lead, origin=ORIGIN)
        return found.sent, found.lately

    assert all_after(6) == ((), ())
    assert all_after(5) == (("Ann",), ())
    assert all_after(0) == (("Ben",), ("Ann",)), "not the one who asks"
    assert all_after(0) == ((), ("Ann", "Ben"))
    assert Reminder.objects.count() == Job.objects.count() == 2


def test_buttons_remind(campaign: Campaign, ann: User, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    text = client.post(f"{WAITING}{ann.pk}/remind/", follow=True).content.decode()
    assert "Reminder sent to Ann." in text
    again = client.post(f"{WAITING}{ann.pk}/remind/", follow=True).content.decode()
    assert "You can send one reminder a day" in again
    assert 'aria-label="Remind Ann" disabled' in again
    both = client.post(f"{WAITING}remind/", {"days": 0}, follow=True).content.decode()
    assert "Reminders sent to Ben." in both
    assert "Already reminded in the last 24 hours: Ann" in both
    late = client.post(f"{WAITING}remind/", {"days": 9}, follow=True).content.decode()
    assert "No one else has tasks that have waited that long." in late
    wrong = client.post(f"{WAITING}remind/", {"days": -1})
    assert wrong.context["form"].errors["days"]
    run_due_jobs()
    assert "http://testserver/campaigns/spring-round/" in email_to(ann.email)


def test_people_of_other_campaigns_are_not_found(
    campaign: Campaign, stranger: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    assert client_of(lead).post(f"{WAITING}{stranger.pk}/remind/").status_code == 404
    assert api_of(lead).post(f"/api/v1{WAITING}{stranger.pk}/remind/").status_code == 404


def test_api_lists_tasks_and_reminds(
    campaign: Campaign, ann: User, lead: User, api_of: ApiOf
) -> None:
    api = api_of(lead)
    people = api.get(f"/api/v1{WAITING}").json()["people"]
    [row] = [person for person in people if person["name"] == "Ann"]
    assert row["id"] == ann.pk
    assert [(work["kind"], work["count"]) for work in row["work"]] == [("annotation", 2)]
    made = api.post(f"/api/v1{WAITING}{ann.pk}/remind/")
    assert (made.status_code, made.json()["waiting"]) == (201, 2)
    assert api.post(f"/api/v1{WAITING}{ann.pk}/remind/").json()["code"] == "reminded"
    body = {"days": 0}
    sent = api.post(f"/api/v1{WAITING}remind/", body, format="json")
    assert sent.json() == {"sent": ["Ben"], "lately": ["Ann"]}
    assert api.post(f"/api/v1{WAITING}remind/", {"days": -1}, format="json").status_code == 400
