"""Texts have one newline, whichever door they come through."""

import json

import pytest
from django.http import QueryDict
from django.test import Client
from hypothesis import strategies as st
from rest_framework.test import APIClient

from annotation.adjudication.selectors import quick_reasons
from annotation.models import Campaign
from portal.accounts.models import User
from portal.web.api import plain_form, plain_json_newlines, plain_newlines
from tests.annotation.factories import make_campaign
from tests.many import drawn

GUIDELINES = "## Signs\r\nMark them.\r\n## Number\r\n"
PLAIN = "## Signs\nMark them.\n## Number"


@drawn(st.text(alphabet='\\rnu0Dda\r\n" ', max_size=30))
def test_newlines_of_json_are_those_of_its_texts(text: str) -> None:
    body = plain_json_newlines(json.dumps([text]).encode())
    assert json.loads(body) == [plain_newlines(text)]


def test_form_without_a_cr_is_the_form_itself() -> None:
    form = QueryDict("a=1%0A&a=2")
    assert plain_form(form) is form
    changed = plain_form(QueryDict("a=1%0D%0A2&a=%0D&b=3"))
    assert dict(changed.lists()) == {"a": ["1\n2", "\n"], "b": ["3"]}


@pytest.fixture
def campaign(db: None) -> Campaign:
    lead = User.objects.create_user(email="lea@example.org", password="-", name="Lea")
    return make_campaign([], lead=lead, opened=False)


def test_guidelines_from_form_and_api_have_plain_newlines(campaign: Campaign) -> None:
    lead = campaign.memberships.get().user
    client = Client()
    client.force_login(lead)
    address = f"/campaigns/{campaign.slug}/guidelines/"
    client.post(address, {"guidelines": GUIDELINES, "note": "a"})
    campaign.refresh_from_db()
    assert campaign.guidelines.strip() == PLAIN
    assert quick_reasons(campaign.guidelines)[-1] == "Guidelines, “Number”."
    api = APIClient()
    api.force_authenticate(lead)
    body = {"guidelines": GUIDELINES + "New.", "note": "b"}
    api.put(f"/api/v1/campaigns/{campaign.slug}/guidelines/", body, format="json")
    campaign.refresh_from_db()
    assert campaign.guidelines == PLAIN + "\nNew."
