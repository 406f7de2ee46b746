"""The pages of datasets: content, actions and query counts."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from portal.accounts.models import User
from portal.datasets.imports.services import start_import
from portal.datasets.models import Dataset, Document, ImportItem, ImportRun
from tests.datasets.factories import (
    add_image,
    make_release,
    page,
    png,
    zip_upload,
)
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf, RunJobs

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


def shown(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return str(response.content.decode())


def fill(dataset: Dataset, count: int, **fields: Any) -> list[Document]:
    documents = []
    for number in range(count):
        document = make_document(dataset, f"doc-{number:04}", f"<p>{number}</p>")
        Document.objects.filter(pk=document.pk).update(**fields)
        documents.append(document)
    return documents


class TestDatasets:
    def test_empty_list_invites_organisers_to_create(
        self, organiser: User, client_of: ClientOf
    ) -> None:
        assert "No datasets yet" in shown(client_of(organiser), "/datasets/")
        assert "No public datasets yet" in shown(client_of(None), "/datasets/")

    def test_private_ones_are_listed_for_organisers_only(
        self, organiser: User, client_of: ClientOf
    ) -> None:
        empty_dataset(title="Open one", visibility="public")
        empty_dataset(title="Closed one")
        public = shown(client_of(None), "/datasets/")
        assert "Open one" in public
        assert "Closed one" not in public
        assert "Closed one" in shown(client_of(organiser), "/datasets/")

    def test_private_releases_are_not_named(self, organiser: User, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        fill(dataset, 1)
        make_release(dataset, version="1.0.0")
        make_release(dataset, version="7.7.7", visibility="private")
        for path in ("/datasets/", "/datasets/set/"):
            assert "7.7.7" not in shown(client_of(None), path)
            assert "7.7.7" in shown(client_of(organiser), path)

    @pytest.mark.parametrize("datasets", [1, 12])
    def test_list_makes_few_queries(
        self,
        datasets: int,
        organiser: User,
        client_of: ClientOf,
        django_assert_max_num_queries: Queries,
    ) -> None:
        for _ in range(datasets):
            dataset = empty_dataset()
            fill(dataset, 2)
            make_release(dataset)
        client = client_of(organiser)
        with django_assert_max_num_queries(8):
            client.get("/datasets/")

    def test_new_dataset_leads_to_its_import(self, organiser: User, client_of: ClientOf) -> None:
        answers = {"title": "New one", "slug": "new-one", "visibility": "private"}
        response = client_of(organiser).post("/datasets/new/", answers)
        assert response["Location"] == "/datasets/new-one/import/"
        dataset = Dataset.objects.get()
        assert (dataset.title, dataset.created_by) == ("New one", organiser)

    @pytest.mark.parametrize("slug", ["new", "a b", "", "taken"])
    def test_new_dataset_needs_an_address_of_its_own(
        self, slug: str, organiser: User, client_of: ClientOf
    ) -> None:
        empty_dataset(slug="taken")
        answers = {"title": "X", "slug": slug, "visibility": "private"}
        response = client_of(organiser).post("/datasets/new/", answers)
        assert response.status_code == 400
        assert "field-errors" in response.content.decode()
        assert Dataset.objects.count() == 1

    def test_editing_keeps_the_slug_and_logs_previous_values(
        self, organiser: User, client_of: ClientOf
    ) -> None:
        from portal.audit.models import Event

        empty_dataset(slug="set", title="Old")
        answers = {"title": "New", "slug": "other", "visibility": "public"}
        client_of(organiser).post("/datasets/set/edit/", answers)
        dataset = Dataset.objects.get()
        assert (dataset.slug, dataset.title, dataset.visibility) == ("set", "New", "public")
        event = Event.objects.get(verb="edit_dataset")
        assert event.data == {"before": {"title": "Old", "visibility": "private"}}


class TestDataset:
    def test_card_shows_description_types_and_releases(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public", description="*Fine.*")
        fill(dataset, 3, doc_type="tax_form")
        make_release(dataset)
        page_ = shown(client_of(None), "/datasets/set/")
        assert "<em>Fine.</em>" in page_
        assert "Tax form" in page_
        assert "/datasets/set/releases/1.0.0/" in page_
        assert "Import documents" not in page_
        assert "Latest imports" not in page_

    def test_description_cannot_carry_markup(self, client_of: ClientOf) -> None:
        empty_dataset(slug="set", visibility="public", description="<script>x()</script>")
        assert "<script>x()" not in shown(client_of(None), "/datasets/set/")

    def test_empty_card_shows_the_next_step(self, organiser: User, client_of: ClientOf) -> None:
        empty_dataset(slug="set", visibility="public")
        page_ = shown(client_of(organiser), "/datasets/set/")
        assert "No documents yet" in page_
        assert "/datasets/set/import/" in page_
        assert "/campaigns/new/" not in page_

    def test_card_leads_organisers_to_a_campaign(
        self, organiser: User, client_of: ClientOf
    ) -> None:
        fill(empty_dataset(slug="set", visibility="public"), 1)
        link = "/campaigns/new/?dataset=set"
        assert link in shown(client_of(organiser), "/datasets/set/")
        assert link not in shown(client_of(None), "/datasets/set/")

    def test_documents_are_found_by_name_company_and_type(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        first, second, third = fill(dataset, 3)
        Document.objects.filter(pk=first.pk).update(company="Acme Corp")
        Document.objects.filter(pk=second.pk).update(company="Beta", doc_type="tax_form")
        Document.objects.filter(pk=third.pk).update(name="acme_note")

        def found(query: str) -> list[str]:
            page_ = shown(client_of(None), f"/datasets/set/?{query}")
            names = ["doc-0000", "doc-0001", "acme_note"]
            return [name for name in names if f"/documents/{name}/" in page_]

        assert found("q=ACME") == ["doc-0000", "acme_note"]
        assert found("doc_type=tax_form") == ["doc-0001"]
        assert found("q=acme&doc_type=tax_form") == []
        assert "No documents found" in shown(client_of(None), "/datasets/set/?q=zzz")

    def test_pages_of_the_table_keep_the_search(self, client_of: ClientOf) -> None:
        fill(empty_dataset(slug="set", visibility="public"), 60, company="Acme")
        page_ = shown(client_of(None), "/datasets/set/?q=acme&doc_type=other")
        assert "1–50 of 60" in page_
        assert "?q=acme&amp;doc_type=other&amp;page=2" in page_
        assert "51–60 of 60" in shown(client_of(None), "/datasets/set/?q=acme&page=2")

    @pytest.mark.parametrize("documents", [1, 60])
    def test_card_makes_few_queries(
        self,
        documents: int,
        organiser: User,
        client_of: ClientOf,
        run_jobs: RunJobs,
        django_assert_max_num_queries: Queries,
    ) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        for document in fill(dataset, documents):
            add_image(document)
        make_release(dataset, visibility="gold_hidden")
        for name in "ab":
            upload = zip_upload({f"pages/{name}.html": page(name)})
            start_import(dataset=dataset, upload=upload, source_name=name, actor=organiser)
        run_jobs()
        for user in (organiser, None):
            client = client_of(user)
            with django_assert_max_num_queries(14):
                client.get("/datasets/set/")


class TestDocument:
    def test_page_shows_metadata(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        [document] = fill(
            dataset,
            1,
            company="Acme <Corp>",
            source_url="https://example.org/filing",
            metadata={"image": {"dpi": 144}, "empty": None},
        )
        add_image(document)
        page_ = shown(client_of(None), "/datasets/set/documents/doc-0000/")
        assert "Acme &lt;Corp&gt;" in page_
        assert 'href="https://example.org/filing"' in page_
        assert "image.dpi" in page_
        assert document.text_sha256 in page_
        assert 'src="/datasets/set/documents/doc-0000/html/"' in page_
        assert 'src="/datasets/set/documents/doc-0000/images/1/"' in page_

    def test_page_of_a_hidden_one_says_why(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        fill(dataset, 1)
        make_release(dataset, visibility="gold_hidden")
        page_ = shown(client_of(None), "/datasets/set/documents/doc-0000/")
        assert "belongs to a hidden test set" in page_
        assert "<iframe" not in page_

    def test_names_with_odd_characters_work(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        document = make_document(dataset, "Café #1 & 50%+ [x]", "<p>x</p>")
        assert "Café #1 &amp; 50%+ [x]" in shown(client_of(None), document.get_absolute_url())

    def test_page_makes_few_queries(
        self, client_of: ClientOf, django_assert_max_num_queries: Queries
    ) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        [document] = fill(dataset, 1)
        add_image(document)
        make_release(dataset)
        client = client_of(None)
        with django_assert_max_num_queries(6):
            client.get("/datasets/set/documents/doc-0000/")


class TestImport:
    def test_upload_leads_to_a_report_that_fills_up(
        self, organiser: User, client_of: ClientOf, run_jobs: RunJobs
    ) -> None:
        empty_dataset(slug="set")
        client = client_of(organiser)
        files = {"pages/a.html": page(), "pages/b.html": b"", "notes/x": b"", "notes/y": b""}
        response = client.post("/datasets/set/import/", {"file": zip_upload(files)})
        path = response["Location"]
        waiting = shown(client, path)
        assert "Waiting for a worker" in waiting
        assert 'hx-trigger="every 1s"' in waiting

        run_jobs()
        done = shown(client, path)
        assert "hx-trigger" not in done
        assert "2 of 2 pages" in done
        assert "the file is empty" in done
        assert "/datasets/set/documents/a/" in done
        assert "/campaigns/new/?dataset=set" in done
        assert "notes/" in done
        assert "(2 files)" in done

    @pytest.fixture
    def run(self, organiser: User) -> ImportRun:
        dataset = empty_dataset(slug="set")
        upload = zip_upload({f"pages/{name}.html": page(name) for name in "abc"})
        return start_import(dataset=dataset, upload=upload, source_name="abc.zip", actor=organiser)

    def test_polling_gets_the_changing_part_alone(
        self, run: ImportRun, organiser: User, client_of: ClientOf
    ) -> None:
        response = client_of(organiser).get(run.get_absolute_url(), headers={"HX-Request": "true"})
        part = response.content.decode().strip()
        assert part.startswith('<section id="report"')
        assert "<html" not in part
        assert "HX-Request" in response["Vary"]

    def test_report_is_filtered_by_outcome(
        self, run: ImportRun, organiser: User, client_of: ClientOf, run_jobs: RunJobs
    ) -> None:
        run_jobs()
        client, path = client_of(organiser), run.get_absolute_url()
        assert "pages/a.html" in shown(client, f"{path}?outcome=imported")
        refused = shown(client, f"{path}?outcome=refused")
        assert "pages/a.html" not in refused
        assert "No rejected files." in refused
        assert "pages/a.html" in shown(client, f"{path}?outcome=nonsense")

    def test_import_can_be_cancelled(
        self, run: ImportRun, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        response = client.post(f"{run.get_absolute_url()}cancel/", follow=True)
        assert "Import cancelled" in response.content.decode()
        run.refresh_from_db()
        assert run.state == "cancelled"

    def test_failed_import_says_why(
        self, run: ImportRun, organiser: User, client_of: ClientOf
    ) -> None:
        run.state, run.error = ImportRun.State.FAILED, "the disk is full"
        run.save()
        assert "the disk is full" in shown(client_of(organiser), run.get_absolute_url())

    def test_broken_attempt_is_announced(
        self, run: ImportRun, organiser: User, client_of: ClientOf
    ) -> None:
        from portal.jobs.models import Job

        Job.objects.update(error="The worker was lost")
        assert "The worker was lost" in shown(client_of(organiser), run.get_absolute_url())

    @pytest.mark.parametrize("items", [1, 150])
    def test_report_makes_few_queries(
        self,
        items: int,
        run: ImportRun,
        organiser: User,
        client_of: ClientOf,
        django_assert_max_num_queries: Queries,
    ) -> None:
        documents = fill(run.dataset, items)
        ImportItem.objects.bulk_create(
            ImportItem(run=run, name=f"pages/{n}.html", outcome="imported", document=document)
            for n, document in enumerate(documents)
        )
        client = client_of(organiser)
        with django_assert_max_num_queries(9):
            client.get(run.get_absolute_url())


class TestRelease:
    def test_page_of_a_public_one_offers_the_gold(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        add_image(make_document(dataset, "a", "<p>Total 1,200</p>"), png(40, 30))
        release = make_release(dataset)
        page_ = shown(client_of(None), "/datasets/set/releases/1.0.0/")
        assert release.sha256 in page_
        assert "/datasets/set/releases/1.0.0/download/" in page_
        assert "40 × 30" in page_

    def test_page_of_a_hidden_one_says_so(self, organiser: User, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        make_document(dataset, "a", "<p>Total 1,200</p>")
        make_release(dataset, visibility="gold_hidden")
        page_ = shown(client_of(None), "/datasets/set/releases/1.0.0/")
        assert "The gold of this release is hidden" in page_
        assert "/download/" not in page_
        own = shown(client_of(organiser), "/datasets/set/releases/1.0.0/")
        assert "because you are an organiser" in own
        assert "/download/" in own

    def test_download_is_a_zip_of_that_name(self, client_of: ClientOf) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        fill(dataset, 1)
        make_release(dataset)
        response = client_of(None).get("/datasets/set/releases/1.0.0/download/")
        assert response["Content-Type"] == "application/zip"
        assert response["Content-Disposition"] == 'attachment; filename="set-1.0.0.zip"'
        assert response.getvalue().startswith(b"PK")

    @pytest.mark.parametrize("documents", [1, 60])
    def test_page_makes_few_queries(
        self, documents: int, client_of: ClientOf, django_assert_max_num_queries: Queries
    ) -> None:
        dataset = empty_dataset(slug="set", visibility="public")
        for document in fill(dataset, documents):
            add_image(document)
        make_release(dataset)
        client = client_of(None)
        with django_assert_max_num_queries(8):
            client.get("/datasets/set/releases/1.0.0/")
