"""Releases in two parts: how items come into them, and what is open of each."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.access import (
    may_see_all_gold,
    may_see_item_gold,
    may_see_some_gold,
    seen_splits,
)
from portal.datasets.curation.splits import SplitDraw, draw_splits
from portal.datasets.curation.stratified import Unit
from portal.datasets.models import Dataset, Document, DocumentType, Release, ReleaseItem
from portal.datasets.selectors.releases import exposed_items
from portal.datasets.services.releases import (
    GoldItem,
    ReleaseError,
    freeze_lines,
    freeze_release,
)
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


def test_told_splits_are_kept_with_the_items() -> None:
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
        ({"open": "dev", "secret": "train"}, "secret: 'train' is no split; there are dev and test"),
        ({"open": "dev", "secret": "test", "x": "dev"}, "x: is no item of the release"),
        (
            {"open": "dev", "secret": "dev"},
            "no item is in the test part, so that no gold would be hidden",
        ),
        (SplitDraw(1.0, 1), "the share of the test part must be above 0 and below 1: 1.0"),
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
    assert Event.objects.get(verb="freeze_release").data["draw"] == {"share": 0.5, "seed": 7}
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


def test_one_item_cannot_be_drawn_into_two_parts() -> None:
    dataset = empty_dataset()
    items = [GoldItem(make_document(dataset, "a", "<p>x</p>"), [])]
    with pytest.raises(ReleaseError, match="one item alone"):
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


def test_a_test_item_that_a_public_release_shows_is_open_and_organisers_are_told() -> None:
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
    ("visibility", "everything", "seen"),
    [("public", True, None), ("gold_hidden", False, {"dev"}), ("private", False, set())],
)
def test_who_sees_which_gold(
    visibility: str, everything: bool, seen: set[str] | None, organiser: User, stranger: User
) -> None:
    release = split_world(visibility)
    items = {item.name: item for item in ReleaseItem.objects.select_related("release")}
    for user in (AnonymousUser(), stranger):
        assert may_see_all_gold(user, release) is everything
        assert seen_splits(user, release) == seen
        for name, split in (("open", "dev"), ("secret", "test")):
            expected = seen is None or split in seen
            assert may_see_item_gold(user, items[name]) is expected
        assert may_see_some_gold(user, release) is (seen is None or bool(seen))
    assert seen_splits(organiser, release) is None
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
    with pytest.raises(ReleaseError, match="q1: is a picture without text"):
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
        ({"licence": "x" * 161}, "the licence has more than 160 characters"),
    ],
)
def test_bad_terms_are_refused(terms: dict[str, Any], fault: str) -> None:
    assert any(fault in each for each in faults_of(**terms))
