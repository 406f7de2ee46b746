"""Scanning for personal data, deciding on findings, and masking them."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.curation.personal_data import MaskingError, decide_findings, scan_personal_data
from portal.datasets.curation.pii import COVER
from portal.datasets.dataset_tasks import Steps, TaskStopped, run_here, start_task
from portal.datasets.documents.services import Hold, bulk_edit_documents
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    DocumentContent,
    DocumentRecord,
    PiiFinding,
    XbrlFacts,
)
from portal.facts import canonical_text, canonicalise
from tests.datasets.factories import add_image, make_release
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf, RunJobs

pytestmark = pytest.mark.django_db


# The email address is at 17 to 30, and the number at 40 to 52.
HTML = "<p>Total 1,200. Ask a@example.org</p><p>or call 212-555-0100 soon</p>"
EMAIL, PHONE = "a@example.org", "212-555-0100"


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set", visibility="public")


@pytest.fixture
def document(dataset: Dataset) -> Document:
    return make_document(dataset, "letter", HTML)


def scan(dataset: Dataset) -> dict[str, int]:
    task = run_here(dataset=dataset, kind=DatasetTask.Kind.PII, run=scan_personal_data)
    counts: dict[str, int] = task.report["counts"]
    return counts


def keep_email(dataset: Dataset, actor: User) -> None:
    email = PiiFinding.objects.get(kind="email")
    decide_findings(
        dataset=dataset, keys=[email.pk], decision="kept", reason="an office", actor=actor
    )


def mask(dataset: Dataset, actor: User, *, kinds: tuple[str, ...] = ("email", "phone")) -> None:
    found = PiiFinding.objects.filter(document__dataset=dataset, kind__in=kinds, decision="open")
    decide_findings(
        dataset=dataset,
        keys=list(found.values_list("pk", flat=True)),
        decision="masked",
        reason="private",
        actor=actor,
    )


class TestScan:
    def test_finds_personal_data(self, dataset: Dataset, document: Document) -> None:
        counts = scan(dataset)
        text = document.content.text
        found = [(row.kind, text[row.start : row.end]) for row in PiiFinding.objects.all()]
        assert found == [("email", EMAIL), ("phone", PHONE)]
        assert counts["documents scanned"] == 1
        assert counts["new findings"] == 2
        assert counts["email address"] == 1

    def test_second_scan_changes_nothing(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        scan(dataset)
        keep_email(dataset, organiser)
        before = list(PiiFinding.objects.values())
        assert scan(dataset)["new findings"] == 0
        assert list(PiiFinding.objects.values()) == before

    def test_open_findings_without_a_match_are_deleted(
        self, dataset: Dataset, document: Document
    ) -> None:
        for start, decision in ((0, "open"), (2, "kept")):
            PiiFinding.objects.create(
                document=document, kind="ssn", start=start, end=start + 2, decision=decision
            )
        scan(dataset)
        left = PiiFinding.objects.filter(kind="ssn")
        assert [row.decision for row in left] == ["kept"]

    def test_distinguishes_cells(self, dataset: Dataset) -> None:
        make_document(dataset, "t", "<table><tr><td>212-555-01</td><td>00</td></tr></table>")
        scan(dataset)
        assert not PiiFinding.objects.exists()

    def test_skips_held_documents(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        every = dataset.documents.all()
        bulk_edit_documents(dataset=dataset, documents=every, hold=Hold("x"), actor=organiser)
        assert scan(dataset) == {"documents held back, not scanned": 1}

    def test_stops_when_asked(self, dataset: Dataset, document: Document) -> None:
        task = DatasetTask.objects.create(dataset=dataset, kind="pii")
        with pytest.raises(TaskStopped):
            scan_personal_data(task, Steps(lambda *_: None, lambda: True))

    def test_runs_as_a_job(
        self, dataset: Dataset, document: Document, organiser: User, run_jobs: RunJobs
    ) -> None:
        task = start_task(dataset=dataset, kind=DatasetTask.Kind.PII, actor=organiser)
        run_jobs()
        task.refresh_from_db()
        assert (task.state, PiiFinding.objects.count()) == ("done", 2)


class TestMasking:
    def test_copy_has_the_same_offsets_and_nothing_else(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        Document.objects.filter(pk=document.pk).update(
            company="Acme", source_url="https://example.org/a", metadata={"a": 1}
        )
        scan(dataset)
        mask(dataset, organiser)
        copy = Document.objects.get(name="letter-masked")
        text = document.content.text
        expected = text.replace(EMAIL, COVER * len(EMAIL)).replace(PHONE, COVER * len(PHONE))
        assert copy.content.text == expected
        assert canonical_text(copy.content.html) == expected
        again = canonicalise(copy.content.html)
        assert (again.html_sha256, again.text_sha256) == (copy.html_sha256, copy.text_sha256)
        assert (copy.company, copy.text_chars) == ("Acme", document.text_chars)
        assert copy.metadata == {"a": 1, "masked_from": "letter"}

    def test_original_is_held_back_and_keeps_its_content(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        before = DocumentContent.objects.values().get(pk=document.pk)
        scan(dataset)
        mask(dataset, organiser)
        document.refresh_from_db()
        assert (document.state, document.held_reason) == ("held", "masked as letter-masked")
        assert DocumentContent.objects.values().get(pk=document.pk) == before
        rows = PiiFinding.objects.values_list("decision", "reason", "decided_by")
        assert set(rows) == {("masked", "private", organiser.pk)}
        verbs = Event.objects.values_list("verb", flat=True)
        assert {"mask_document", "create_masked_document", "decide_personal_data"} <= set(verbs)

    def test_images_and_record_are_not_taken_over(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        add_image(document)
        DocumentRecord.objects.create(
            document=document, benchmark="fincriticaled", gold={"html": HTML}, prompt=""
        )
        scan(dataset)
        mask(dataset, organiser)
        copy = Document.objects.get(name="letter-masked")
        assert copy.images.count() == 0
        assert not DocumentRecord.objects.filter(document=copy).exists()

    def test_masked_tags_are_removed_and_others_kept(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        text = document.content.text
        at = text.index("1,200")
        phone = text.index(PHONE)
        facts = [
            [at, at + 5, "number", "us-gaap:Revenues"],
            [phone, phone + 3, "number", "dei:CityAreaCode"],
        ]
        XbrlFacts.objects.create(document=document, facts=facts)
        scan(dataset)
        mask(dataset, organiser)
        copy = Document.objects.get(name="letter-masked")
        assert copy.xbrl_facts.facts == facts[:1]
        assert copy.content.text[at : at + 5] == "1,200"

    def test_other_findings_go_along(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        scan(dataset)
        mask(dataset, organiser, kinds=("email",))
        copy = Document.objects.get(name="letter-masked")
        [left] = copy.pii_findings.all()
        assert (left.kind, left.decision) == ("phone", "open")
        assert copy.content.text[left.start : left.end] == PHONE
        mask(dataset, organiser, kinds=("phone",))
        twice = Document.objects.get(name="letter-masked-2")
        assert twice.content.text.count(COVER) == len(EMAIL) + len(PHONE)
        copy.refresh_from_db()
        assert copy.held_reason == "masked as letter-masked-2"

    def test_kept_ones_stay_kept_on_the_copy(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        scan(dataset)
        keep_email(dataset, organiser)
        mask(dataset, organiser)
        assert scan(dataset)["new findings"] == 0
        copy = Document.objects.get(name="letter-masked")
        assert copy.pii_findings.get().decision == "kept"

    @pytest.mark.parametrize("visibility", ["gold_hidden", "private"])
    def test_hidden_gold_gets_no_open_copy(
        self, visibility: str, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        make_release(dataset, visibility=visibility)
        scan(dataset)
        with pytest.raises(MaskingError, match="hidden test set"):
            mask(dataset, organiser)
        assert Document.objects.count() == 1
        assert not PiiFinding.objects.exclude(decision="open").exists()

    def test_release_keeps_the_original(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        release = make_release(dataset, visibility="public")
        before = list(release.items.values())
        scan(dataset)
        mask(dataset, organiser)
        assert list(release.items.values()) == before

    def test_one_that_cannot_be_masked_stops_all(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        make_document(dataset, "other", HTML.replace("Total", "Sum"))
        scan(dataset)
        Document.objects.filter(name="other").update(state="held", held_reason="blurred")
        with pytest.raises(MaskingError, match="already held back: blurred"):
            mask(dataset, organiser)
        assert Document.objects.count() == 2
        assert not PiiFinding.objects.exclude(decision="open").exists()

    def test_names_are_free_and_not_too_long(self, dataset: Dataset, organiser: User) -> None:
        long = "n" * 160
        make_document(dataset, long, HTML)
        make_document(dataset, "n" * 148 + "-masked", "<p>taken</p>")
        scan(dataset)
        mask(dataset, organiser)
        copy = Document.objects.get(metadata__has_key="masked_from")
        assert copy.name == "n" * 148 + "-masked-2"

    def test_findings_of_another_dataset_are_left_alone(
        self, dataset: Dataset, document: Document, organiser: User
    ) -> None:
        scan(dataset)
        keys = list(PiiFinding.objects.values_list("pk", flat=True))
        decided = decide_findings(
            dataset=empty_dataset(), keys=keys, decision="masked", reason="x", actor=organiser
        )
        assert decided == []
        assert not PiiFinding.objects.exclude(decision="open").exists()


class TestPage:
    path = "/datasets/set/personal-data/"

    def test_shows_findings_in_their_context(
        self, dataset: Dataset, document: Document, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        assert "No scan yet" in client.get(self.path).content.decode()
        scan(dataset)
        make_release(dataset, version="1.0.0")
        page = client.get(self.path).content.decode()
        assert f"Total 1,200. Ask <mark>{EMAIL}</mark>or call" in page
        assert "/datasets/set/releases/1.0.0/" in page
        only = client.get(f"{self.path}?kind=phone").content.decode()
        assert f"<mark>{PHONE}</mark>" in only
        assert f"<mark>{EMAIL}</mark>" not in only
        assert "No findings" in client.get(f"{self.path}?decision=masked").content.decode()

    def test_decides_on_the_ticked_ones(
        self, dataset: Dataset, document: Document, organiser: User, client_of: ClientOf
    ) -> None:
        scan(dataset)
        email, phone = PiiFinding.objects.all()
        client = client_of(organiser)
        answers = {"finding": [email.pk], "decision": "kept", "reason": "an office"}
        assert client.post(self.path, answers).status_code == 302
        email.refresh_from_db()
        assert (email.decision, email.reason, email.decided_by) == ("kept", "an office", organiser)
        phone.refresh_from_db()
        assert phone.decision == "open"

    @pytest.mark.parametrize(
        ("answers", "message"),
        [
            ({"decision": "kept", "reason": "x"}, "Select at least one"),
            ({"finding": ["1"], "decision": "kept"}, "Enter a reason"),
            ({"finding": ["1"], "decision": "burn", "reason": "x"}, "not one of"),
            ({"finding": ["x", "9" * 40], "decision": "kept", "reason": "x"}, "not one of"),
        ],
    )
    def test_refuses(
        self,
        answers: dict[str, Any],
        message: str,
        dataset: Dataset,
        document: Document,
        organiser: User,
        client_of: ClientOf,
    ) -> None:
        scan(dataset)
        response = client_of(organiser).post(self.path, answers)
        assert response.status_code == 400
        assert message in response.content.decode()

    def test_scan_starts_one_task(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        first = client.post(f"{self.path}scan/")
        second = client.post(f"{self.path}scan/")
        assert first["Location"] == second["Location"]
        assert DatasetTask.objects.get().kind == "pii"

    def test_says_why_nothing_was_masked(
        self, dataset: Dataset, document: Document, organiser: User, client_of: ClientOf
    ) -> None:
        make_release(dataset, visibility="gold_hidden")
        scan(dataset)
        keys = list(PiiFinding.objects.values_list("pk", flat=True))
        answers = {"finding": keys, "decision": "masked", "reason": "x"}
        response = client_of(organiser).post(self.path, answers)
        assert response.status_code == 400
        assert "hidden test set" in response.content.decode()

    @pytest.mark.parametrize("documents", [1, 30])
    def test_makes_few_queries(
        self,
        documents: int,
        dataset: Dataset,
        organiser: User,
        client_of: ClientOf,
        django_assert_max_num_queries: Any,
    ) -> None:
        for number in range(documents):
            make_document(dataset, f"d{number}", HTML.replace("Total", f"Total {number}"))
        scan(dataset)
        make_release(dataset)
        client = client_of(organiser)
        with django_assert_max_num_queries(12):
            client.get(self.path)

    def test_context_is_cut_in_the_database(self, dataset: Dataset, organiser: User) -> None:
        """Offsets are code points, at both ends of a text and with astral characters."""
        from portal.datasets.curation.personal_data import CONTEXT, find_findings, finding_rows

        make_document(dataset, "x", f"<p>{EMAIL} {'𝕏' * 200} {EMAIL}</p>")
        scan(dataset)
        first, second = finding_rows(dataset, find_findings(dataset))
        assert (first.before, first.found) == ("", EMAIL)
        assert first.after == " " + "𝕏" * (CONTEXT - 1)
        assert second.before == "𝕏" * (CONTEXT - 1) + " "
        assert (second.found, second.after) == (EMAIL, "")

    def test_api(self, dataset: Dataset, document: Document, organiser: User, api_of: Any) -> None:
        scan(dataset)
        api = api_of(organiser)
        listed = api.get("/api/v1/datasets/set/personal-data/?kind=email").json()["results"]
        assert [row["found"] for row in listed] == [EMAIL]
        body = {"findings": [listed[0]["id"]], "decision": "masked", "reason": "private"}
        path = "/api/v1/datasets/set/personal-data/decide/"
        assert api.post(path, body, format="json").json() == {"decided": 1}
        assert Document.objects.filter(name="letter-masked").exists()
        assert api.post(path, body | {"reason": ""}, format="json").status_code == 400
