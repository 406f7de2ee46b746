"""Edited values in the workbench: validated at once, without blocking other labels."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment
from tests.e2e.workbench import Opened, marked, press, select, wait_saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_value_and_sign_are_derived_edited_and_given_back(opened: Opened, work: Assignment) -> None:
    page, _ = opened
    press(page, "j", "1", "j", "1")
    value = page.get_by_label("Value", exact=True)
    expect(value).to_have_value("-310")
    expect(page.get_by_label("Sign")).to_have_value("parentheses")
    press(page, "v")
    expect(value).to_be_focused()
    value.fill("3,10")
    press(page, "Enter")
    expect(page.locator("[data-value-fault]")).to_have_text(
        "Not saved: the value must be a decimal such as -1200 or 25.63, or a fraction such as 1/3."
    )
    value.fill("310")
    press(page, "Enter")
    expect(page.locator("[data-value-fault]")).to_contain_text("the value must begin with -")
    value.fill("-311")
    press(page, "Enter")
    wait_saved(page)
    span = work.spans.get(quote="(310)")
    assert (span.value, span.sign, span.edited) == ("-311", "parentheses", True)
    row = page.locator("[data-spans] li", has_text="(310)")
    expect(row).to_contain_text("edited")
    page.get_by_role("button", name="Derive from text").click()
    wait_saved(page)
    span = work.spans.get(quote="(310)")
    assert (span.value, span.sign, span.edited) == ("-310", "parentheses", False)


def test_a_wrong_value_hinders_no_other_label(opened: Opened, work: Assignment) -> None:
    page, _ = opened
    press(page, "j", "1", "v")
    page.get_by_label("Value", exact=True).fill("12/0")
    press(page, "Enter")
    expect(page.locator("[data-value-fault]")).to_contain_text("Not saved")
    press(page, "Escape", "j", "1")
    wait_saved(page)
    assert marked(work) == [("Number", "1,200"), ("Number", "(310)")]
    assert not work.spans.filter(edited=True).exists()


def test_a_value_that_was_not_taken_is_there_when_one_comes_back(opened: Opened) -> None:
    page, _ = opened
    press(page, "j", "1", "j", "1", "v")
    page.get_by_label("Value", exact=True).fill("minus 310")
    press(page, "Enter")
    page.locator("[data-spans] li", has_text="1,200").first.click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("1200")
    expect(page.locator("[data-value-fault]")).to_be_empty()
    page.locator("[data-spans] li", has_text="(310)").click()
    expect(page.get_by_label("Value", exact=True)).to_have_value("minus 310")
    expect(page.locator("[data-value-fault]")).to_contain_text("Not saved")
    press(page, "Control+Enter")
    expect(page.locator("[data-notes]")).to_contain_text("1 with an invalid value")


def test_a_fraction_written_for_a_number_without_a_value_is_saved_as_plain(
    opened: Opened, work: Assignment
) -> None:
    page, frame = opened
    select(frame, "was")
    press(page, "1", "v")
    page.get_by_label("Value", exact=True).fill("21/4")
    press(page, "Enter")
    expect(page.get_by_label("Sign")).to_have_value("plain")
    wait_saved(page)
    span = work.spans.get()
    assert (span.value, span.sign, span.edited) == ("21/4", "plain", True)
