"""Rendering a dataset's documents, uploading images, thumbnails, and their pages."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from PIL import Image

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.dataset_tasks import OptionsError
from portal.datasets.documents.selectors import document_boxes, image_counts, suspect_documents
from portal.datasets.imaging import services as page_images
from portal.datasets.imaging.pictures import check_picture
from portal.datasets.imaging.renderer import NoBrowserError, Rendered, RenderedImage, RenderingError
from portal.datasets.imaging.services import (
    ImageRefusedError,
    add_image,
    check_options,
    documents_to_render,
    ensure_thumbnail,
    remove_rendered_images,
    start_rendering,
)
from portal.datasets.models import Dataset, DatasetTask, Document, PageImage, TextBoxes
from portal.jobs.models import Job
from tests.datasets.factories import add_image as import_image
from tests.datasets.factories import jpeg, make_release, png, stored_bytes
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ApiOf, ClientOf, RunJobs

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


class Killed(BaseException):
    """Simulates the death of a worker."""


class FakeRenderer:
    """Draws without a browser: one image per line of text, in a unique shade."""

    drawn: list[str]
    error: dict[str, BaseException]
    shade = 100
    similarity = 1.0

    def __init__(self, chromium: str, limits: object = None) -> None:
        if chromium == "none":
            raise NoBrowserError("No Chromium found")

    def __enter__(self) -> "FakeRenderer":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def render(self, html: str, text: str) -> Rendered:
        FakeRenderer.drawn.append(text)
        if text in FakeRenderer.error:
            raise FakeRenderer.error.pop(text)
        images = []
        for number in range(text.count("|") + 1):
            data = png(40 + number, 30, FakeRenderer.shade)
            images.append(RenderedImage(data, b"WEBP", 40 + number, 30, [[0, 3, 1, 2, 3, 4]]))
        return Rendered(images, FakeRenderer.similarity)


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> type[FakeRenderer]:
    FakeRenderer.drawn, FakeRenderer.error = [], {}
    FakeRenderer.shade, FakeRenderer.similarity = 100, 1.0
    monkeypatch.setattr(page_images, "Renderer", FakeRenderer)
    return FakeRenderer


@pytest.fixture
def dataset() -> Dataset:
    dataset = empty_dataset(slug="set", title="Set", visibility="public")
    for name in ("a", "b", "c"):
        make_document(dataset, name, f"<p>text {name}</p>")
    return dataset


def render(dataset: Dataset, run_jobs: RunJobs, *, again: bool = False) -> DatasetTask:
    task = start_rendering(dataset=dataset, again=again, actor=None)
    run_jobs()
    task.refresh_from_db()
    return task


def named(name: str) -> Document:
    return Document.objects.get(name=name)


class TestRendering:
    def test_every_page_without_an_image_gets_its_images(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        import_image(named("b"))
        make_document(dataset, "long", "<p>one|two</p>")
        task = render(dataset, run_jobs)
        assert (task.state, task.done, task.total) == ("done", 3, 3)
        assert task.report["counts"] == {"documents rendered": 3, "images": 4}
        assert drawing.drawn == ["text a", "text c", "one|two"]
        images = list(PageImage.objects.filter(document__name="long"))
        assert [(image.number, image.width, image.height) for image in images] == [
            (1, 40, 30),
            (2, 41, 30),
        ]
        assert all(image.is_rendered and image.text_similarity == 1 for image in images)
        assert stored_bytes(images[1]) == png(41, 30, 100)
        assert not named("b").images.get().is_rendered
        assert document_boxes(named("long").pk)[1] == {
            "number": 2,
            "width": 41,
            "height": 30,
            "boxes": [[0, 3, 1, 2, 3, 4]],
        }

    def test_pictures_without_text_are_left_alone(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        Document.objects.filter(name="c").update(kind="picture")
        assert render(dataset, run_jobs).report["counts"]["documents rendered"] == 2

    def test_refused_document_is_named_and_the_rest_goes_on(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        drawing.error = {"text b": RenderingError("too_slow", "longer than 60 seconds")}
        task = render(dataset, run_jobs)
        assert task.state == "done"
        assert task.report["counts"] == {
            "documents rendered": 2,
            "images": 2,
            "documents rejected": 1,
        }
        assert task.report["faults"] == [
            {"name": "b", "code": "too_slow", "reason": "longer than 60 seconds"}
        ]
        assert (task.done, task.total) == (3, 3)

    @pytest.mark.parametrize("again", [False, True])
    def test_killed_task_continues_after_the_last_document(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any, again: bool
    ) -> None:
        drawing.error = {
            "text a": RenderingError("blank", "nothing"),
            "text c": Killed(),
        }
        task = start_rendering(dataset=dataset, again=again, actor=None)
        with pytest.raises(Killed):
            run_jobs()
        task.refresh_from_db()
        assert (task.state, task.done) == ("running", 2)
        Job.objects.update(lease_until="2000-01-01T00:00Z", not_before="2000-01-01T00:00Z")
        run_jobs()
        task.refresh_from_db()
        # Neither refused nor rendered documents are tried again.
        assert drawing.drawn == ["text a", "text b", "text c", "text c"]
        assert task.state == "done"
        assert task.report["counts"] == {
            "documents rejected": 1,
            "documents rendered": 2,
            "images": 2,
        }
        assert [fault["name"] for fault in task.report["faults"]] == ["a"]
        assert (task.done, task.total) == (3, 3)

    def test_again_replaces_only_rendered_images(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        import_image(named("b"))
        render(dataset, run_jobs)
        old = named("a").images.get()
        make_release(dataset, documents=[named("c")])
        released = named("c").images.get()
        drawing.shade, drawing.drawn = 7, []
        task = render(dataset, run_jobs, again=True)
        assert drawing.drawn == ["text a"]
        assert task.report["counts"] == {"documents rendered": 1, "images": 1}
        new = named("a").images.get()
        assert stored_bytes(new) == png(40, 30, 7)
        assert TextBoxes.objects.filter(image=new).exists()
        assert stored_bytes(named("b").images.get()) == png()
        # Another document uses the old picture, so its file is kept.
        assert new.file.name != old.file.name
        assert named("c").images.get() == released
        assert stored_bytes(released) == png(40, 30, 100)

    @pytest.mark.django_db(transaction=True)
    def test_files_that_nobody_shares_are_removed(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        Document.objects.exclude(name="a").delete()
        render(dataset, run_jobs)
        old = named("a").images.get()
        drawing.shade = 7
        render(dataset, run_jobs, again=True)
        assert not old.file.storage.exists(str(old.file.name))
        assert not old.thumbnail.storage.exists(str(old.thumbnail.name))

    @pytest.mark.django_db(transaction=True)
    def test_again_with_the_same_result_keeps_the_file(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any
    ) -> None:
        render(dataset, run_jobs)
        render(dataset, run_jobs, again=True)
        assert drawing.drawn == ["text a", "text b", "text c"] * 2
        assert stored_bytes(named("a").images.get()) == png(40, 30, 100)

    def test_image_that_comes_meanwhile_is_kept(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = FakeRenderer.render

        def racing(self: FakeRenderer, html: str, text: str) -> Rendered:
            if text == "text b":
                import_image(named("b"))
            return real(self, html, text)

        monkeypatch.setattr(FakeRenderer, "render", racing)
        task = render(dataset, run_jobs)
        other = "documents skipped: image added or document released meanwhile"
        assert task.report["counts"][other] == 1
        assert stored_bytes(named("b").images.get()) == png()

    def test_missing_browser_fails_the_task(
        self, dataset: Dataset, run_jobs: RunJobs, settings: Any
    ) -> None:
        settings.CHROMIUM = "no-such-chromium"
        task = render(dataset, run_jobs)
        assert task.state == "failed"
        assert "Install the package chromium" in task.error
        assert "upload page images" in task.error
        assert not PageImage.objects.exists()

    def test_cancelled_rendering_keeps_its_images(
        self, dataset: Dataset, run_jobs: RunJobs, drawing: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from portal.datasets.dataset_tasks import cancel_work

        real = page_images._render_one

        def cancelling(renderer: Any, task: DatasetTask, *rest: Any) -> None:
            real(renderer, task, *rest)
            cancel_work(work=task, actor=None)

        monkeypatch.setattr(page_images, "_render_one", cancelling)
        task = render(dataset, run_jobs)
        assert task.state == "cancelled"
        assert PageImage.objects.count() == 1

    def test_options(self) -> None:
        assert check_options({}) == {"again": False}
        assert check_options({"again": True}) == {"again": True}
        for wrong in ({"again": 1}, {"resolution": 300}):
            with pytest.raises(OptionsError):
                check_options(wrong)

    def test_dataset_is_asked_in_few_queries(
        self, dataset: Dataset, django_assert_max_num_queries: Queries
    ) -> None:
        with django_assert_max_num_queries(1):
            assert documents_to_render(dataset, again=True).count() == 3


class TestCommand:
    def test_renders_and_reports_the_result(self, dataset: Dataset, drawing: Any) -> None:
        drawing.error = {"text b": RenderingError("blank", "nothing of it is visible")}
        out, err = io.StringIO(), io.StringIO()
        call_command("render_pages", "set", stdout=out, stderr=err)
        assert out.getvalue() == "1 documents rejected, 2 documents rendered, 2 images\n"
        assert err.getvalue() == "b: nothing of it is visible (blank)\n"
        drawing.drawn = []
        call_command("render_pages", "set", "--again", stdout=io.StringIO())
        assert drawing.drawn == ["text a", "text b", "text c"]

    def test_nothing_to_do_is_said(self, dataset: Dataset, drawing: Any) -> None:
        call_command("render_pages", "set", stdout=io.StringIO())
        out = io.StringIO()
        call_command("render_pages", "set", stdout=out)
        assert out.getvalue() == "every document has an image\n"

    def test_faults_are_errors(self, dataset: Dataset, settings: Any) -> None:
        with pytest.raises(CommandError, match="there is no dataset nowhere"):
            call_command("render_pages", "nowhere")
        settings.CHROMIUM = "no-such-chromium"
        with pytest.raises(CommandError, match="Install the package chromium"):
            call_command("render_pages", "set")
        assert DatasetTask.objects.get().state == "failed"


class TestUploading:
    def test_images_are_added_behind_each_other(self, dataset: Dataset, organiser: User) -> None:
        document = named("a")
        for number, data in enumerate((png(), jpeg()), start=1):
            image = add_image(document=document, picture=check_picture(data), actor=organiser)
            assert image.number == number
            assert (image.is_rendered, image.text_similarity) == (False, None)
        assert Event.objects.filter(verb="add_page_image", actor=organiser).count() == 2

    def test_nothing_is_replaced(self, dataset: Dataset, run_jobs: RunJobs, drawing: Any) -> None:
        import_image(named("a"))
        with pytest.raises(ImageRefusedError, match="already"):
            add_image(document=named("a"), picture=check_picture(png()), actor=None)
        render(dataset, run_jobs)
        with pytest.raises(ImageRefusedError, match="Remove the rendered images"):
            add_image(document=named("b"), picture=check_picture(jpeg()), actor=None)
        assert remove_rendered_images(document=named("b"), actor=None) == 1
        add_image(document=named("b"), picture=check_picture(jpeg()), actor=None)
        assert remove_rendered_images(document=named("a"), actor=None) == 0
        assert named("a").images.count() == 1

    def test_released_images_stay(self, dataset: Dataset, run_jobs: RunJobs, drawing: Any) -> None:
        render(dataset, run_jobs)
        make_release(dataset)
        with pytest.raises(ImageRefusedError, match="is in a release"):
            remove_rendered_images(document=named("a"), actor=None)

    def test_page_accepts_an_image_and_shows_errors(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        path = "/datasets/set/documents/a/images/"
        assert "Upload an image" in client.get("/datasets/set/documents/a/").content.decode()
        response = client.post(path, {"file": SimpleUploadedFile("x.png", b"GIF89a")})
        assert response.status_code == 400
        assert "x.png: not a PNG or JPEG image" in response.content.decode()
        assert client.post(path, {}).status_code == 400
        response = client.post(path, {"file": SimpleUploadedFile("x.png", png())})
        assert response["Location"] == "/datasets/set/documents/a/"
        response = client.post(path, {"file": SimpleUploadedFile("x.png", png())})
        assert "The document already has this image." in response.content.decode()
        assert named("a").images.count() == 1
        assert (
            "Upload an image"
            not in client_of(None).get("/datasets/set/documents/a/").content.decode()
        )

    def test_file_that_is_too_large_is_refused(
        self, dataset: Dataset, organiser: User, client_of: ClientOf, settings: Any
    ) -> None:
        client, path = client_of(organiser), "/datasets/set/documents/a/images/"
        settings.UPLOAD_LIMIT = 50
        response = client.post(path, {"file": SimpleUploadedFile("x.png", png())})
        assert response.status_code == 413
        settings.UPLOAD_LIMIT = settings.MEGABYTE
        settings.ARCHIVE_MEMBER_LIMIT = 50
        response = client.post(path, {"file": SimpleUploadedFile("x.png", png())})
        assert "x.png is larger than" in response.content.decode()
        assert not PageImage.objects.exists()

    def test_api_takes_an_image(self, dataset: Dataset, organiser: User, api_of: ApiOf) -> None:
        api, path = api_of(organiser), "/api/v1/datasets/set/documents/a/images/"
        answer = api.post(path, {"file": SimpleUploadedFile("x.png", png())}, format="multipart")
        assert answer.status_code == 201
        assert (answer.json()["number"], answer.json()["width"]) == (1, 40)
        answer = api.post(path, {"file": SimpleUploadedFile("x.png", png())}, format="multipart")
        assert answer.json() == {"file": ["The document already has this image."]}
        answer = api.post(path, {"file": SimpleUploadedFile("x", b"x")}, format="multipart")
        assert answer.json() == {"file": ["x: not a PNG or JPEG image"]}


class TestThumbnails:
    def test_first_request_makes_it_and_later_ones_find_it(
        self, dataset: Dataset, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import_image(named("a"), png(2550, 3300))
        path = "/datasets/set/documents/a/images/1/thumbnail/"
        response = client_of(None).get(path)
        assert (response.status_code, response["Content-Type"]) == (200, "image/webp")
        assert Image.open(io.BytesIO(response.content)).size == (240, 311)
        monkeypatch.setattr(
            "portal.datasets.imaging.services.thumbnail_of", lambda _: pytest.fail("made twice")
        )
        assert client_of(None).get(path).content == response.content

    def test_long_page_is_cut_and_every_kind_of_picture_read(self, dataset: Dataset) -> None:
        from portal.datasets.imaging.pictures import thumbnail

        sizes = {"L": (800, 4000), "P": (4000, 800), "RGBA": (10, 10), "1": (1, 900)}
        expected = {"L": (240, 320), "P": (240, 48), "RGBA": (10, 10), "1": (1, 1)}
        for mode, size in sizes.items():
            small = Image.open(io.BytesIO(thumbnail(Image.new(mode, size))))
            assert (small.size, small.format) == (expected[mode], "WEBP")

    def test_file_that_is_gone_is_not_found(self, dataset: Dataset, client_of: ClientOf) -> None:
        import_image(named("a"))
        image = PageImage.objects.get()
        image.file.storage.delete(str(image.file.name))
        path = "/datasets/set/documents/a/images/1/thumbnail/"
        assert client_of(None).get(path).status_code == 404

    def test_lost_thumbnail_is_created_again(self, dataset: Dataset) -> None:
        import_image(named("a"))
        made = ensure_thumbnail(PageImage.objects.get())
        image = PageImage.objects.get()
        image.thumbnail.storage.delete(str(image.thumbnail.name))
        assert ensure_thumbnail(image) == made


class TestImagesPage:
    def test_counts_and_suspects(self, dataset: Dataset, run_jobs: RunJobs, drawing: Any) -> None:
        import_image(named("b"))
        drawing.similarity = 0.5
        render(dataset, run_jobs)
        make_document(dataset, "new", "<p>new</p>")
        assert image_counts(dataset) == {
            "pages": 4,
            "rendered": 2,
            "imported": 1,
            "without": 1,
            "to_render": 1,
            "low": 2,
            "pictures": 0,
        }
        make_release(dataset)
        counts = image_counts(dataset)
        assert (counts["without"], counts["to_render"]) == (1, 0)
        suspects: Any = suspect_documents(dataset)
        assert [(row.name, row.similarity) for row in suspects] == [("a", 0.5), ("c", 0.5)]

    def test_button_starts_the_task_and_twice_the_same(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        shown = client.get("/datasets/set/images/").content.decode()
        assert "Render 3 documents without an image" in shown
        assert 'name="again"' not in shown
        places = {client.post("/datasets/set/images/")["Location"] for _ in range(2)}
        task = DatasetTask.objects.get()
        assert places == {f"/datasets/set/tasks/{task.pk}/"}
        assert (task.kind, task.options, task.created_by) == ("render", {"again": False}, organiser)
        assert "View job" in client.get("/datasets/set/images/").content.decode()

    def test_rendering_again_is_asked_for(
        self,
        dataset: Dataset,
        organiser: User,
        client_of: ClientOf,
        run_jobs: RunJobs,
        drawing: Any,
    ) -> None:
        render(dataset, run_jobs)
        client = client_of(organiser)
        assert 'name="again"' in client.get("/datasets/set/images/").content.decode()
        client.post("/datasets/set/images/", {"again": "on"})
        assert DatasetTask.objects.first().options == {"again": True}  # type: ignore[union-attr]

    def test_others_get_no_links_to_pages_they_may_not_open(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        for user, is_led in ((organiser, True), (None, False)):
            shown = client_of(user).get("/datasets/set/documents/").content.decode()
            for path in ("/datasets/set/images/", "/datasets/set/tasks/"):
                assert (path in shown) is is_led

    def test_empty_dataset_leads_to_its_import(self, organiser: User, client_of: ClientOf) -> None:
        empty_dataset(slug="empty")
        shown = client_of(organiser).get("/datasets/empty/images/").content.decode()
        assert "No HTML documents yet" in shown
        assert "/datasets/empty/import/" in shown

    @pytest.mark.parametrize("documents", [1, 60])
    def test_page_makes_few_queries(
        self,
        documents: int,
        organiser: User,
        client_of: ClientOf,
        run_jobs: RunJobs,
        drawing: Any,
        django_assert_max_num_queries: Queries,
    ) -> None:
        dataset = empty_dataset(slug="many")
        for number in range(documents):
            make_document(dataset, f"d{number}", f"<p>{number}</p>")
        drawing.similarity = 0.1
        render(dataset, run_jobs)
        client = client_of(organiser)
        with django_assert_max_num_queries(9):
            client.get("/datasets/many/images/")
