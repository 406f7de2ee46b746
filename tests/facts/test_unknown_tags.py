"""Tags of gold that are neither elements nor labels are refused by every reader of gold."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from portal.datasets.imports.labelled_pages import GoldPage, gold_difference
from portal.datasets.releases.gold import ReleaseError, place_gold
from portal.facts import TagError, canonicalise, read_tags
from portal.facts.tags import unknown_tags
from tests.factories import empty_dataset, make_document

LABELS = ["Number", "Date"]
MISTYPED = "<p><Number>1</Number> <Currency>2</Currency>\n<currency>3</currency> <Dat>4</Dat></p>"
REASON = (
    "<Currency> 2 times, <Dat> once: neither an HTML element nor one of the labels Number, Date;"
    " correct or remove the tags"
)


def test_the_tags_are_counted_and_named_as_they_are_spelled() -> None:
    found = [(tag.name, tag.times, tag.start) for tag in unknown_tags(MISTYPED, LABELS)]
    assert found == [("Currency", 2, 22), ("Dat", 1, 68)]


@pytest.mark.parametrize(
    "html",
    [
        "<p><NUMBER>1</NUMBER><number id=a>2</number></p>",
        "<ix:nonFraction name='x'>1</ix:nonFraction><us-gaap:Cash>2</us-gaap:Cash>",
        "<DOCUMENT><TYPE>10-K<SEQUENCE>1<TEXT><PAGE><TABLE><CAPTION><S><C><FN></TEXT></DOCUMENT>",
        "<svg><path d='M0'/><linearGradient/></svg><math><mi>x</mi></math>",
        "<!-- <Currency> --><script>a <Currency> b</script><p title='<Currency>'>x</p> 1 < 2",
    ],
)
def test_elements_envelopes_drawings_and_labels_are_known(html: str) -> None:
    assert unknown_tags(html, LABELS) == []


def test_a_label_of_another_set_is_not_read_over() -> None:
    with pytest.raises(TagError, match="<MonetaryUnit> once: neither an HTML"):
        read_tags("<p><MonetaryUnit>$</MonetaryUnit> <Number>1</Number></p>", LABELS)
    assert read_tags("<p><MonetaryUnit>$</MonetaryUnit></p>", ["MonetaryUnit"]).spans


def test_reading_says_the_place_the_tag_and_how_often() -> None:
    with pytest.raises(TagError) as caught:
        read_tags(MISTYPED, LABELS)
    assert str(caught.value) == f"line 1, column 23: {REASON}"


@pytest.mark.django_db
def test_freezing_names_the_file() -> None:
    dataset = empty_dataset()
    make_document(dataset, "a", "<p>1 2\n3 4</p>")
    pages = [GoldPage("gold/a.html", "a", MISTYPED)]
    with pytest.raises(ReleaseError) as caught:
        place_gold(dataset=dataset, pages=pages, labels=LABELS)
    assert caught.value.faults == [f"gold/a.html: line 1, column 23: {REASON}"]


def test_an_import_refuses_the_gold() -> None:
    assert "<Currency> 2 times, <Dat> once" in gold_difference(
        MISTYPED, canonicalise("<p>1 2\n3 4</p>")
    )


def test_grading_refuses_the_gold_with_its_file_and_line(tmp_path: Path) -> None:
    for folder, html in (("gold", "<p>x</p>\n" + MISTYPED), ("out", "<p>x</p>")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.html").write_text(html)
    with pytest.raises((CommandError, SystemExit)) as caught:
        err = io.StringIO()
        call_command(
            "grade",
            "fincriticaled",
            gold=tmp_path / "gold",
            submission=tmp_path / "out",
            stderr=err,
        )
    told = f"{caught.value} {err.getvalue()}"
    assert "a.html:2: <Currency> 2 times, <Dat> once: neither an HTML element" in told
