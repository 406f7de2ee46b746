"""The agreement page in a real browser: readable, linked, within its width."""

import pytest
from playwright.sync_api import expect

from annotation.agreement.selectors import campaign_agreement
from annotation.models import Campaign
from portal.accounts.models import User
from tests.conftest import make_user
from tests.fixture_types import PageOf
from tests.looks import faults_in_both_looks

from .agreement_campaign import labelled_campaign

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ADDRESS = "/campaigns/spring-round/agreement/"


@pytest.fixture
def four(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    dora = make_user("Dora-Wilhelmina van den Heuvel-Eibrink")
    return labelled_campaign([ann, ben, cleo, dora], lead=lead, documents=6, days=5)


def test_lead_reads_the_matrix_and_goes_to_what_is_disputed(
    page_of: PageOf, four: Campaign, lead: User
) -> None:
    page = page_of(lead)
    page.goto(ADDRESS)
    overall = campaign_agreement(four).levels[0].overall.fleiss[0].figure.value
    matrix = page.get_by_role("table", name="Entity level: pairwise Cohen's κ")
    expect(matrix.get_by_role("columnheader")).to_have_text(["Annotator", "1", "2", "3", "4"])
    expect(matrix.locator("tfoot tr").first).to_contain_text(f"{overall:.4f}")
    expect(page.get_by_role("img", name="Krippendorff's α and span F1")).to_be_visible()
    page.get_by_text("By annotator pair").click()
    expect(page.get_by_role("rowheader", name="3–4")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="LaTeX").click()
    assert download.value.suggested_filename == "agreement-spring-round.tex"
    text = campaign_agreement(four).texts[0].text
    page.get_by_role("link", name=text, exact=True).click()
    page.wait_for_url("**/adjudication/**")


def test_each_kappa_and_alpha_has_a_verdict_and_no_column_is_cut_off(
    page_of: PageOf, four: Campaign, lead: User
) -> None:
    page = page_of(lead)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(ADDRESS)
    for name in ["Token-level Fleiss", "Entity-level Fleiss", "Entity-level Krippendorff"]:
        tile = page.locator("dl.glance > div").filter(has_text=name)
        expect(tile.locator("dd.meaning")).not_to_have_text("")
    hidden = page.locator(".table-frame:has(> .lowest)").evaluate(
        "frame => frame.scrollWidth - frame.clientWidth"
    )
    assert hidden == 0


def test_page_is_accessible_and_fits(page_of: PageOf, four: Campaign, lead: User) -> None:
    page = page_of(lead)
    page.goto(ADDRESS)
    for summary in page.locator("main details > summary").all():
        summary.click()
    assert faults_in_both_looks(page, part="main") == []
