"""Releases with splits: how items are assigned to them and which gold is open."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.access import (
    gold_splits_for,
    may_see_all_gold,
    may_see_item_gold,
    may_see_some_gold,
)
from portal.datasets.curation.draws import SplitDraw, Unit, draw_splits
from portal.datasets.models import Dataset, Document, DocumentType, Release, ReleaseItem
from portal.datasets.releases.gold import GoldItem, ReleaseError
from portal.datasets.releases.selectors import exposed_items
from portal.datasets.releases.services import freeze_lines, freeze_release, freeze_remarks
from tests.datasets.factories import LABELS, make_release
from tests.datasets.releases.worlds import freeze_split, record_world, split_world
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db


def faults_of(**terms: Any) -> Sequence[str]:
    with pytest.raises(ReleaseError) as caught:
        split_world(**terms)
    assert not Release.objects.exists()
    return caught.value.faults


def splits_of(release: Release) -> dict[str, str]:
    return dict(release.items.values_list("name", "split"))


def test_given_splits_are_kept_with_the_items() -> None:
    assert splits_of(split_world()) == {"open": "dev", "secret": "test"}


def test_the_published_hash_covers_splits_and_that_of_the_gold_does_not() -> None:
    release = split_world()
    again = freeze_split(release.dataset, version="1.0.1", splits=None)
    assert again.gold_sha256 == release.gold_sha256
    assert again.sha256 != release.sha256
    assert splits_of(again) == {"open": "", "secret": ""}


@pytest.mark.parametrize(
    ("splits", "fault"),
    [
        ({"open": "dev"}, "secret: has no split"),
        ({"open": "dev", "secret": "train"}, "secret: 'train' is not a split; use dev or test"),
        ({"open": "dev", "secret": "test", "x": "dev"}, "x: is not in the release"),
        (
            {"open": "dev", "secret": "dev"},
            "no item is in the test split, so no gold would be hidden",
        ),
        (SplitDraw(1.0, 1), "the test share must be between 0 and 1, not 1.0"),
    ],
)
def test_bad_splits_are_refused(splits: Any, fault: str) -> None:
    assert fault in faults_of(splits=splits)


def test_a_draw_takes_its_share_of_every_type() -> None:
    dataset = empty_dataset()
    for number in range(10):
        document = make_document(dataset, f"d{number}", f"<p>{number} 1,200</p>")
        document.doc_type = DocumentType.TAX_FORM if number < 4 else DocumentType.FINANCIAL_LEGAL
        document.save()
    items = [GoldItem(document, []) for document in dataset.documents.all()]
    release = freeze_release(
        dataset=dataset, version="1.0.0", items=items, labels=LABELS, splits=SplitDraw(0.5, 7)
    )
    test = release.items.filter(split="test").values_list("document__doc_type", flat=True)
    assert sorted(test) == ["financial_legal"] * 3 + ["tax_form"] * 2
    recorded = Event.objects.get(verb="freeze_release").data["draw"]
    assert recorded == release.draw
    assert {key: recorded[key] for key in ("share", "seed", "group_by")} == {
        "share": 0.5,
        "seed": 7,
        "group_by": "filing",
    }
    # The next version adds documents: who was in a part stays there.
    for number in range(10, 14):
        make_document(dataset, f"d{number}", f"<p>{number} 1,200</p>")
    items = [GoldItem(document, []) for document in dataset.documents.all()]
    later = freeze_release(
        dataset=dataset, version="1.1.0", items=items, labels=LABELS, splits=SplitDraw(0.5, 99)
    )
    before, after = splits_of(release), splits_of(later)
    assert {name: after[name] for name in before} == before
    fresh = [after[name] for name in after.keys() - before.keys()]
    assert sorted(fresh) == ["dev", "dev", "test", "test"]


def test_the_same_seed_draws_the_same_and_both_parts_have_something() -> None:
    units = [Unit(f"d{number}", (str(number % 3),)) for number in range(9)]
    first = draw_splits(units, SplitDraw(0.3, 5))
    assert first == draw_splits(reversed(units), SplitDraw(0.3, 5))
    assert sorted(first.values()).count("test") == 3
    assert set(draw_splits(units[:2], SplitDraw(0.01, 1)).values()) == {"dev", "test"}
    assert set(draw_splits(units[:2], SplitDraw(0.99, 1)).values()) == {"dev", "test"}


FILINGS = {f"f{filing}_p{page:03d}": f"f{filing}" for filing in range(12) for page in (1, 2, 3)}


def test_the_pages_of_a_filing_come_into_one_part() -> None:
    units = [Unit(name, ("x",)) for name in FILINGS]
    drawn = draw_splits(units, SplitDraw(0.5, 1), groups=FILINGS)
    parts = {(FILINGS[name], split) for name, split in drawn.items()}
    assert len(parts) == 12
    assert list(drawn.values()).count("test") == 18
    assert draw_splits(reversed(units), SplitDraw(0.5, 1), groups=FILINGS) == drawn
    assert draw_splits(units, SplitDraw(0.5, 2), groups=FILINGS) != drawn
    apart = draw_splits(units, SplitDraw(0.5, 1, "none"))
    assert len({(FILINGS[name], split) for name, split in apart.items()}) > 12


def test_groups_of_unlike_size_come_near_the_share_by_hand() -> None:
    # 6 of 10 items are one group: with it the test part would be 1 off, without it up to 4 are in.
    groups = dict.fromkeys("abcdef", "big")
    units = [Unit(name, ()) for name in "abcdefghij"]
    for seed in range(20):
        drawn = draw_splits(units, SplitDraw(0.5, seed), groups=groups)
        test = [name for name, split in drawn.items() if split == "test"]
        assert len(test) in {4, 6, 7}
        assert len({drawn[name] for name in "abcdef"}) == 1


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_both_parts_get_a_group(share: float) -> None:
    groups = {name: name[0] for name in ("a1", "a2", "a3", "b1", "b2")}
    units = [Unit(name, ()) for name in groups]
    drawn = draw_splits(units, SplitDraw(share, 3), groups=groups)
    # The part that is too small gets the smaller group.
    assert {drawn["a1"], drawn["b1"]} == {"dev", "test"}
    assert drawn["b1"] == ("test" if share < 0.5 else "dev")


def test_new_pages_join_the_part_of_their_filing() -> None:
    groups = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b", "c1": "c", "d1": "d"}
    kept = {"a1": "test", "b1": "dev", "b2": "test"}
    units = [Unit(name, ()) for name in groups]
    drawn = draw_splits(units, SplitDraw(0.5, 1), kept, groups)
    assert {name: drawn[name] for name in ("a1", "a2", "b1", "b2", "b3")} == {
        "a1": "test", "a2": "test", "b1": "dev", "b2": "test", "b3": "dev",
    }  # fmt: skip
    assert {drawn["c1"], drawn["d1"]} == {"dev", "test"}


def test_one_group_alone_is_not_divided() -> None:
    units = [Unit("a_p1", ()), Unit("a_p2", ())]
    with pytest.raises(ValueError, match="all items are in one filing"):
        draw_splits(units, SplitDraw(0.5, 1), groups={"a_p1": "a", "a_p2": "a"})
    with pytest.raises(ValueError, match="group_by must be one of filing, company, none, not 'x'"):
        draw_splits(units, SplitDraw(0.5, 1, "x"))


def _frozen_by(group_by: str) -> Release:
    dataset = empty_dataset()
    for number in range(24):
        name = f"f{number // 3}_p{number % 3}"
        document = make_document(dataset, name, f"<p>{number} 1,200</p>")
        document.company = f"Company {number // 6}"
        document.metadata = {"filing": "letters"} if number < 2 else {}
        document.save()
    items = [GoldItem(document, []) for document in dataset.documents.all()]
    draw = SplitDraw(0.5, 7, group_by)
    return freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS, splits=draw)


@pytest.mark.parametrize(("group_by", "groups"), [("filing", 9), ("company", 4), ("none", 24)])
def test_a_release_is_drawn_by_its_groups_and_says_so(group_by: str, groups: int) -> None:
    release = _frozen_by(group_by)
    assert (release.draw["groups"], release.draw["items"], release.draw["divided"]) == (
        groups,
        24,
        0,
    )
    parts: dict[str, set[str]] = {}
    for item in release.items.select_related("document"):
        assert item.document is not None
        group = {
            "filing": item.document.metadata.get("filing") or item.name.partition("_")[0],
            "company": item.document.company,
            "none": item.name,
        }[group_by]
        parts.setdefault(group, set()).add(item.split)
    assert [group for group, splits in parts.items() if len(splits) > 1] == []
    by = "" if group_by == "none" else f" by {group_by}"
    assert freeze_remarks(release)[0].startswith(f"Drawn{by} with seed 7: ")


def test_one_item_cannot_be_drawn_into_two_parts() -> None:
    dataset = empty_dataset()
    items = [GoldItem(make_document(dataset, "a", "<p>x</p>"), [])]
    with pytest.raises(ReleaseError, match="needs at least two items"):
        freeze_release(
            dataset=dataset, version="1.0.0", items=items, labels=LABELS, splits=SplitDraw(0.5, 1)
        )


def names(documents: Any) -> list[str]:
    return sorted(document.name for document in documents)


def open_names() -> list[str]:
    """The open documents of the one dataset, as lists ask for them."""
    dataset = Dataset.objects.get()
    return names(dataset.documents.filter(dataset.documents.all().open_condition_in(dataset)))


@pytest.mark.parametrize(
    ("visibility", "hidden"),
    [("gold_hidden", ["secret"]), ("private", ["open", "secret"]), ("public", [])],
)
def test_documents_are_as_hidden_as_their_items(visibility: str, hidden: list[str]) -> None:
    split_world(visibility)
    assert names(Document.objects.hidden()) == hidden
    opened = Document.objects.filter(Document.objects.all().open_condition())
    assert names(opened) == sorted({"open", "secret"} - set(hidden)) == open_names()


def test_a_test_item_that_a_public_release_shows_is_open_and_organisers_are_warned() -> None:
    release = split_world()
    assert exposed_items(release) == 0
    make_release(release.dataset, version="1.1.0", visibility="public")
    assert names(Document.objects.hidden()) == []
    assert open_names() == ["open", "secret"]
    assert exposed_items(release) == 1


def test_development_items_of_one_release_are_open_though_a_private_one_holds_them() -> None:
    release = split_world()
    freeze_split(release.dataset, version="1.1.0", visibility="private", splits=None)
    assert names(Document.objects.hidden()) == ["secret"]
    assert open_names() == ["open"]


@pytest.mark.parametrize(
    ("visibility", "everything", "expected_splits"),
    [("public", True, None), ("gold_hidden", False, {"dev"}), ("private", False, set())],
)
def test_who_sees_which_gold(
    visibility: str,
    everything: bool,
    expected_splits: set[str] | None,
    organiser: User,
    stranger: User,
) -> None:
    release = split_world(visibility)
    items = {item.name: item for item in ReleaseItem.objects.select_related("release")}
    for user in (AnonymousUser(), stranger):
        assert may_see_all_gold(user, release) is everything
        assert gold_splits_for(user, release) == expected_splits
        for name, split in (("open", "dev"), ("secret", "test")):
            expected = expected_splits is None or split in expected_splits
            assert may_see_item_gold(user, items[name]) is expected
        assert may_see_some_gold(user, release) is (
            expected_splits is None or bool(expected_splits)
        )
    assert gold_splits_for(organiser, release) is None
    assert may_see_item_gold(organiser, items["secret"])


def test_items_of_one_piece_are_hidden_without_a_split() -> None:
    release = split_world(splits=None)
    assert not may_see_some_gold(AnonymousUser(), release)
    assert names(Document.objects.hidden()) == ["open", "secret"]
    assert open_names() == []


def test_held_documents_and_pictures_are_refused() -> None:
    dataset = empty_dataset()
    held = make_document(dataset, "held", "<p>x</p>")
    Document.objects.filter(pk=held.pk).update(state="held", held_reason="a card number")
    held.refresh_from_db()
    with pytest.raises(ReleaseError, match="held: is held back: a card number"):
        freeze_release(dataset=dataset, version="1.0.0", items=[GoldItem(held, [])], labels=LABELS)
    with pytest.raises(ReleaseError, match="held: is held back"):
        freeze_lines(
            dataset=dataset, version="1.0.0", benchmark="x", lines={"held": {"id": "held"}}
        )
    pictures = record_world("fcmbench")
    with pytest.raises(ReleaseError, match="q1: is an image without text"):
        freeze_release(
            dataset=pictures,
            version="1.0.0",
            items=[GoldItem(document, []) for document in pictures.documents.all()],
            labels=LABELS,
        )


def test_documents_know_how_many_facts_the_newest_release_has() -> None:
    release = split_world()
    counts = dict(release.dataset.documents.values_list("name", "fact_count"))
    assert counts == {"open": 2, "secret": 2}
    make_release(release.dataset, version="1.1.0")
    counts = dict(release.dataset.documents.values_list("name", "fact_count"))
    assert counts == {"open": 1, "secret": 1}


@pytest.mark.parametrize(
    ("terms", "fault"),
    [
        ({"citation": {"doi": "no"}}, "citation: doi"),
        ({"citation": {"who": "x"}}, "citation: who"),
        ({"licence": "x" * 161}, "the licence must have at most 160 characters"),
    ],
)
def test_bad_terms_are_refused(terms: dict[str, Any], fault: str) -> None:
    assert any(fault in each for each in faults_of(**terms))
