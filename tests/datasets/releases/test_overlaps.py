"""Gold that is public in one dataset and hidden in another is not frozen without a confirmation."""

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.accounts.models import User
from portal.datasets.curation.near_duplicates import copies
from portal.datasets.models import Dataset, Document, DocumentRecord, Release
from portal.datasets.releases.overlaps import UNSEEN, OverlapError
from portal.datasets.releases.services import freeze_lines, freeze_warnings
from tests.datasets.factories import make_release
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

WORDS = [a + b for a in ("net", "sales", "of", "total") for b in ("ab", "cd", "ef", "gh", "ij")]


def page(seed: int, words: int = 80) -> str:
    """A page of text with a number in every eighth place."""
    draw = random.Random(seed)
    text = [
        draw.choice(WORDS) if place % 8 else f"{draw.randrange(1000, 10000)}"
        for place in range(words)
    ]
    return f"Paid 1,200 {' '.join(text)}"


INSERTED = f"{page(1)[:200]} {page(99, 60)} {page(1)[200:]}"


def dataset_of(slug: str, texts: dict[str, str], visibility: str = "public") -> Dataset:
    dataset = empty_dataset(slug=slug, title=slug.capitalize(), visibility=visibility)
    for name, text in texts.items():
        document = make_document(dataset, name, f"<p>{text}</p>")
        gold = {
            "id": name,
            "html": document.content.html.replace("1,200", "<Number>1,200</Number>"),
        }
        DocumentRecord.objects.create(document=document, benchmark="fincriticaled", gold=gold)
    return dataset


@pytest.fixture
def sealed() -> Release:
    """Six pages with hidden gold."""
    pages = {f"secret-{n}": page(n) for n in range(6)}
    return make_release(dataset_of("sealed", pages), visibility="gold_hidden")


@pytest.fixture
def copied(sealed: Release) -> Dataset:
    """One of them with an inserted paragraph, one as it is, and a page of its own."""
    return dataset_of("copied", {"a": INSERTED, "b": page(2), "c": page(50)})


FAULTS = [
    "a: its gold is hidden in Sealed 1.0.0, as secret-1",
    "b: its gold is hidden in Sealed 1.0.0, as secret-2",
]


class TestCopies:
    def found(self, text: str, other: str) -> bool:
        both = list(copies({"a": text}, [("b", other)])), list(copies({"b": other}, [("a", text)]))
        assert bool(both[0]) == bool(both[1])
        return bool(both[0])

    def test_inserted_and_missing_paragraphs_do_not_hide_it(self) -> None:
        assert self.found(page(1), page(1))
        assert self.found(page(1), INSERTED)
        assert self.found(page(1), page(1)[:250])
        assert self.found(page(1), page(1).upper().replace(" ", "\n"))

    def test_other_numbers_in_the_same_words_are_another_page(self) -> None:
        other = "".join("7" if character in "123456" else character for character in page(1))
        assert not self.found(page(1), other)
        assert not self.found(page(1), page(2))

    def test_short_texts_must_have_the_same_words(self) -> None:
        assert self.found("Paid 1,200", "paid: 1,200!")
        assert not self.found("Paid 1,200", page(1))
        assert not self.found("", "")

    def test_common_phrases_are_no_copy(self) -> None:
        phrase = page(7, 60)
        texts = {str(n): f"{phrase} {page(n + 100, 40)}" for n in range(30)}
        assert list(copies(texts, [("x", f"{phrase} {page(999, 40)}")])) == []
        assert list(copies(texts, [("x", texts["3"])])) == [("3", "x")]


class TestPublishing:
    def test_it_names_both_documents_and_freezes_once_confirmed(self, copied: Dataset) -> None:
        for accepted in (0, 1, 3):
            with pytest.raises(OverlapError) as refused:
                make_release(copied, accept_overlaps=accepted)
            assert refused.value.faults[:-1] == FAULTS
            assert refused.value.count == 2
        assert not copied.releases.exists()
        assert make_release(copied, accept_overlaps=2).item_count == 3

    def test_hidden_gold_may_be_hidden_twice(self, copied: Dataset) -> None:
        assert make_release(copied, visibility="gold_hidden").item_count == 3
        assert make_release(copied, visibility="private", version="1.0.1").item_count == 3

    def test_gold_that_its_own_dataset_has_published_is_not_hidden(
        self, copied: Dataset, sealed: Release
    ) -> None:
        make_release(sealed.dataset, version="1.0.1")
        assert make_release(copied).item_count == 3

    def test_a_dev_split_is_public(self, copied: Dataset) -> None:
        lines = {name: {"id": name, "html": "<p></p>"} for name in "abc"}
        documents = {document.name: document for document in copied.documents.all()}
        terms: dict[str, Any] = {"benchmark": "fincriticaled", "lines": lines}
        with pytest.raises(OverlapError) as refused:
            freeze_lines(
                dataset=copied, version="1.0.0", documents=documents, **terms,
                splits={"a": "test", "b": "dev", "c": "dev"},
            )  # fmt: skip
        assert refused.value.faults[:-1] == FAULTS[1:]

    def test_pictures_and_lines_without_a_document_are_compared_by_hash(self) -> None:
        sets = [empty_dataset(slug=slug, title=slug, visibility="public") for slug in ("x", "y")]
        for dataset in sets:
            Document.objects.create(
                dataset=dataset, name="q1", kind="picture", html_sha256="a" * 64, text_chars=0
            )
        lines = {name: {"id": name, "gold": {"total": 1}} for name in ("q1", "q2")}

        def freeze(dataset: Dataset, visibility: str) -> Release:
            documents = {"q1": dataset.documents.get()}
            return freeze_lines(
                dataset=dataset, version="1.0.0", benchmark="findoc", lines=lines,
                documents=documents, visibility=visibility,
            )  # fmt: skip

        freeze(sets[0], "private")
        with pytest.raises(OverlapError) as refused:
            freeze(sets[1], "public")
        assert refused.value.faults[:-1] == [
            f"{name}: its gold is hidden in x 1.0.0, as {name}" for name in lines
        ]


def test_hiding_gold_that_is_public_elsewhere_stops_too(copied: Dataset) -> None:
    make_release(copied, accept_overlaps=2)
    again = dataset_of("again", {"z": INSERTED, "y": page(51)}, visibility="private")
    with pytest.raises(OverlapError) as refused:
        make_release(again, visibility="gold_hidden")
    assert refused.value.faults[:-1] == ["z: its gold is public in Copied 1.0.0, as a"]
    make_release(again, visibility="gold_hidden", accept_overlaps=1)


class TestWhoMaySee:
    def test_a_stranger_learns_no_name_and_cannot_confirm(
        self, copied: Dataset, researcher: User
    ) -> None:
        for accepted in range(4):
            with pytest.raises(OverlapError) as refused:
                make_release(copied, actor=researcher, accept_overlaps=accepted)
            assert (refused.value.faults, refused.value.count) == (
                [UNSEEN.format(act="freeze this release")],
                0,
            )

    def test_who_froze_the_hidden_release_may_confirm(self, researcher: User) -> None:
        own = dataset_of("sealed", {f"secret-{n}": page(n) for n in range(6)})
        make_release(own, visibility="gold_hidden", actor=researcher)
        copied = dataset_of("copied", {"a": INSERTED, "b": page(2)})
        with pytest.raises(OverlapError) as refused:
            make_release(copied, actor=researcher)
        assert refused.value.faults[:-1] == FAULTS
        make_release(copied, actor=researcher, accept_overlaps=2)


class TestEveryWay:
    def test_page(self, copied: Dataset, organiser: User, client_of: ClientOf) -> None:
        client, path = client_of(organiser), "/datasets/copied/releases/new/"
        asked = {
            "source": "records:fincriticaled", "labels": "Number", "version": "1.0.0",
            "visibility": "public", "split": "none",
        }  # fmt: skip
        assert "accept_overlaps" not in client.get(path).content.decode()
        refused = client.post(path, asked)
        text = refused.content.decode()
        assert refused.status_code == 400
        assert all(fault in text for fault in FAULTS)
        assert 'name="accept_overlaps" value="2"' in text
        assert not copied.releases.exists()
        client.post(path, asked | {"accept_overlaps": "2"})
        assert copied.releases.get().visibility == "public"

    def test_api(self, copied: Dataset, organiser: User, researcher: User, api_of: ApiOf) -> None:
        path = "/api/v1/datasets/copied/releases/"
        body = {"benchmark": "fincriticaled", "labels": ["Number"], "visibility": "public"}
        assert api_of(researcher).post(path, body, format="json").status_code == 403
        assert api_of(None).post(path, body, format="json").status_code == 401
        refused = api_of(organiser).post(path, body, format="json")
        assert (refused.status_code, refused.json()["gold"][:2]) == (400, FAULTS)
        assert "number of these documents: 2" in refused.json()["gold"][2]
        done = api_of(organiser).post(path, body | {"accept_overlaps": 2}, format="json")
        assert done.status_code == 201

    def test_command(self, copied: Dataset, tmp_path: Path) -> None:
        gold = tmp_path / "gold"
        gold.mkdir()
        for document in copied.documents.all():
            (gold / f"{document.name}.html").write_text(document.record.gold["html"])
        words = ["freeze_release", "copied", "1.0.0", "--gold", str(gold), "--labels", "Number"]
        words += ["--visibility", "public"]
        with pytest.raises(CommandError) as refused:
            call_command(*words, stdout=io.StringIO(), stderr=io.StringIO())
        assert all(fault in str(refused.value) for fault in FAULTS)
        call_command(*words, "--accept-overlaps", "2", stdout=io.StringIO(), stderr=io.StringIO())
        assert copied.releases.count() == 1


class TestMakingADatasetPublic:
    @pytest.fixture
    def private(self) -> Dataset:
        """Public gold in a private dataset, which another dataset then hides."""
        private = dataset_of("early", {"a": INSERTED, "b": page(2), "c": page(50)}, "private")
        make_release(private)
        pages = {f"secret-{n}": page(n) for n in range(6)}
        make_release(dataset_of("sealed", pages), visibility="gold_hidden")
        return private

    def test_page_names_the_documents_and_publishes_once_confirmed(
        self, private: Dataset, client_of: ClientOf, organiser: User
    ) -> None:
        client = client_of(organiser)
        form = {"title": "Early", "visibility": "public", "description": "", "licence": ""}
        refused = client.post("/datasets/early/edit/", form)
        shown = refused.content.decode()
        assert refused.status_code == 400
        for fault in FAULTS:
            assert fault in shown
        assert "Publish 2 documents whose gold is hidden in another dataset" in shown
        private.refresh_from_db()
        assert private.visibility == "private"
        renamed = form | {"title": "New", "visibility": "private"}
        assert client.post("/datasets/early/edit/", renamed).status_code == 302
        saved = client.post("/datasets/early/edit/", form | {"accept_overlaps": "2"})
        assert saved.status_code == 302
        private.refresh_from_db()
        assert private.visibility == "public"

    def test_api_names_them_too(self, private: Dataset, api_of: ApiOf, organiser: User) -> None:
        api = api_of(organiser)
        refused = api.patch("/api/v1/datasets/early/", {"visibility": "public"})
        assert refused.status_code == 400
        confirm = "To publish it anyway, confirm the number of these documents: 2"
        assert refused.json() == {"visibility": [*FAULTS, confirm]}
        for number, status in ((1, 400), (2, 200)):
            body = {"visibility": "public", "accept_overlaps": number}
            assert api.patch("/api/v1/datasets/early/", body).status_code == status

    def test_public_variants_become_visible_with_their_original(
        self, private: Dataset, api_of: ApiOf, organiser: User
    ) -> None:
        original = empty_dataset(slug="original", visibility="private")
        Dataset.objects.filter(pk=private.pk).update(derived_from=original, visibility="public")
        answer = api_of(organiser).patch("/api/v1/datasets/original/", {"visibility": "public"})
        assert answer.json()["visibility"][:2] == FAULTS

    def test_dataset_without_hidden_copies_becomes_public(
        self, api_of: ApiOf, organiser: User
    ) -> None:
        make_release(dataset_of("early", {"c": page(50)}, "private"))
        answer = api_of(organiser).patch("/api/v1/datasets/early/", {"visibility": "public"})
        assert answer.status_code == 200

    def test_admin_does_not_change_the_visibility(
        self, private: Dataset, client_of: ClientOf, admin_user: User
    ) -> None:
        url = f"/admin/datasets/dataset/{private.pk}/change/"
        assert 'name="visibility"' not in client_of(admin_user).get(url).content.decode()


class TestOwnHiddenGold:
    def test_publishing_it_in_a_later_version_warns(self, sealed: Release) -> None:
        dataset = sealed.dataset
        documents = list(dataset.documents.order_by("name"))
        assert "publishes" not in str(freeze_warnings(sealed))
        later = make_release(dataset, version="1.1.0", documents=documents[:2])
        [warning] = [each for each in freeze_warnings(later) if "publishes" in each]
        assert warning.startswith(
            "This release publishes the gold of 2 documents that 1.0.0 hides: scores on boards"
        )
        hidden = make_release(dataset, version="1.2.0", visibility="gold_hidden")
        assert "publishes" not in str(freeze_warnings(hidden))

    def test_page_warns_before(self, sealed: Release, client_of: ClientOf, organiser: User) -> None:
        page = client_of(organiser).get("/datasets/sealed/releases/new/").content.decode()
        assert "The gold of 1.0.0 is hidden. A public release of the same documents" in page

    def test_api_and_command_warn(
        self, sealed: Release, api_of: ApiOf, organiser: User, tmp_path: Path
    ) -> None:
        body = {"version": "1.1.0", "benchmark": "fincriticaled", "visibility": "public"}
        answer = api_of(organiser).post("/api/v1/datasets/sealed/releases/", body).json()
        assert "This release publishes the gold of 6 documents" in str(answer["warnings"])
        out = io.StringIO()
        gold = tmp_path / "gold.jsonl"
        records = DocumentRecord.objects.filter(document__dataset=sealed.dataset)
        gold.write_text("".join(f"{json.dumps(record.gold)}\n" for record in records))
        call_command(
            "freeze_release", "sealed", "1.2.0", "--gold", str(gold), "--visibility", "public",
            stdout=out, stderr=out,
        )  # fmt: skip
        assert "This release publishes the gold of 6 documents" in out.getvalue()
