"""The commands: import_dataset, freeze_release, export_release."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.accounts.models import User
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.imports import services as imports_service
from portal.datasets.imports import storing as pages_service
from portal.datasets.models import Dataset, Document, ImportItem, ImportRun, Release
from tests.datasets.factories import page, write_folder, zip_bytes
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    files = {"pages/a.html": page("Net 1,200"), "pages/b.html": b"", "gold/a.html": b"x"}
    return write_folder(tmp_path / "source", files)


def test_import_creates_the_dataset_and_reports(source: Path) -> None:
    out = run("import_dataset", "fresh", str(source), "--create", "--title", "New set")
    assert out.splitlines() == [
        "fresh: 1 imported, 0 updated, 0 unchanged, 0 kept, 1 refused",
        "not imported: gold/ 1. Add a gold file when you freeze a release, or import it into a "
        "campaign under “Import and export”.",
        "rejected pages/b.html: the file is empty [empty]",
        "pages/a.html: no image",
    ]
    dataset = Dataset.objects.get()
    assert (dataset.title, dataset.visibility) == ("New set", "private")
    assert ImportRun.objects.get().state == "done"


def test_import_prints_its_remarks(tmp_path: Path) -> None:
    hidden = '<p style="display:none">9</p>'
    files = {f"{name}.htm": page(f"{hidden}Net {name}") for name in ("a", "b")}
    source = write_folder(tmp_path, {**files, "c.htm": page("Net 2")})
    out = run("import_dataset", "fresh", str(source), "--create", "--form", "filing")
    assert out.splitlines() == [
        "fresh: 3 imported, 0 updated, 0 unchanged, 0 kept, 0 refused",
        "a.htm:page 1 and 1 more: removed 1 hidden element with 1 character of text",
    ]


def test_import_of_a_zip_reads_it_where_it_is(tmp_path: Path) -> None:
    empty_dataset(slug="set")
    path = tmp_path / "pages.zip"
    path.write_bytes(zip_bytes({"deep/pages/a.html": page()}))
    assert "1 imported" in run("import_dataset", "set", str(path))
    assert not ImportRun.objects.get().upload
    assert path.exists()


def test_import_again_leaves_all_unchanged(source: Path) -> None:
    empty_dataset(slug="set")
    run("import_dataset", "set", str(source))
    assert "0 imported, 0 updated, 1 unchanged, 0 kept, 1 refused" in run(
        "import_dataset", "set", str(source)
    )
    assert ImportRun.objects.count() == 2


def test_interrupted_import_goes_on_when_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_dataset(slug="set")
    source = write_folder(tmp_path, {f"pages/p{n}.html": page(f"{n}") for n in range(5)})
    real = pages_service.import_page

    def interrupted(**kwargs: Any) -> None:
        if Document.objects.count() == 2:
            raise KeyboardInterrupt
        real(**kwargs)

    monkeypatch.setattr(imports_service, "import_page", interrupted)
    with pytest.raises(SystemExit) as caught:
        run("import_dataset", "set", str(source))
    assert caught.value.code == 130
    assert ImportRun.objects.get().state == "running"

    monkeypatch.setattr(imports_service, "import_page", real)
    assert "5 imported" in run("import_dataset", "set", str(source))
    assert ImportRun.objects.get().state == "done"
    assert Document.objects.count() == ImportItem.objects.count() == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ghost", "{source}"], "there is no dataset ghost; use --create to create it"),
        (["new", "{source}", "--create"], "slug: “new” is reserved by the site"),
        (["bad slug", "{source}", "--create"], "slug: Enter a valid “slug”"),
        (["set", "{source}/nowhere"], "no such file or folder"),
        (["set", "{source}/pages"], "the source has no files named"),
        (
            ["set", "{source}/pages/a.html"],
            "looks like an HTML or XML page; a ZIP archive is required",
        ),
    ],
)
def test_import_that_cannot_begin_says_why(
    source: Path, arguments: list[str], message: str
) -> None:
    empty_dataset(slug="set")
    with pytest.raises(CommandError, match=message):
        run("import_dataset", *(argument.format(source=source) for argument in arguments))
    assert Dataset.objects.count() == 1
    assert not ImportRun.objects.exists()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    dataset = empty_dataset(slug="set")
    make_document(dataset, "a", "<p>Net 1,200</p>")
    make_document(dataset, "b", "<p>Nothing</p>")
    return write_folder(tmp_path / "gold", {"a.html": "<p>Net <Number>1,200</Number></p>"})


def test_freeze_makes_a_release_with_hidden_gold_by_default(gold: Path) -> None:
    out = run("freeze_release", "set", "1.0.0", "--gold", str(gold), "--notes", "First.")
    release = Release.objects.get()
    assert (release.visibility, release.notes) == ("gold_hidden", "First.")
    assert (release.item_count, release.fact_count) == (1, 1)
    assert release.sha256 in out
    assert "documents without gold, not included: 1" in out


def test_freeze_lists_all_faults_and_writes_nothing(gold: Path) -> None:
    write_folder(gold, {"b.html": "<p>Something else</p>", "ghost.html": "<p>x</p>"})
    with pytest.raises(CommandError) as caught:
        run("freeze_release", "set", "1.0.0", "--gold", str(gold))
    lines = str(caught.value).splitlines()
    assert lines[0] == "nothing was frozen; 2 errors:"
    assert lines[1].startswith("b.html: the text without tags differs from the document b")
    assert lines[2] == "ghost.html: the dataset set has no document ghost"
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ghost", "1.0.0", "--gold", "{gold}"], "there is no dataset ghost"),
        (["set", "1.0.0", "--gold", "{gold}/nowhere"], "no such file or folder"),
        (["set", "one", "--gold", "{gold}"], "not a semantic version"),
        (["set", "1.0.0", "--gold", "{gold}", "--labels", "Number,Table"], "HTML element"),
        (["set", "1.0.0", "--gold", "{gold}/a.html"], "gold must be a folder, .zip"),
    ],
)
def test_freeze_that_cannot_begin_says_why(gold: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("freeze_release", *(argument.format(gold=gold) for argument in arguments))


def test_export_writes_a_whole_file_once(gold: Path, tmp_path: Path) -> None:
    run("freeze_release", "set", "1.0.0", "--gold", str(gold))
    path = tmp_path / "out.zip"
    run("export_release", "set", "1.0.0", "--out", str(path))
    page = zipfile.ZipFile(path).read("gold/a.html")
    # The gold is hidden, so a comment with the canary follows.
    assert page.partition(b"\n<!-- ")[0] == b"<p>Net <Number>1,200</Number></p>"
    with pytest.raises(CommandError, match="use --force to replace it"):
        run("export_release", "set", "1.0.0", "--out", str(path))
    run("export_release", "set", "1.0.0", "--out", str(path), "--force")
    assert [file.name for file in tmp_path.iterdir() if "partial" in file.name] == []


def test_export_of_a_missing_release_is_refused(gold: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"there is no release set 2\.0\.0"):
        run("export_release", "set", "2.0.0")
    run("freeze_release", "set", "1.0.0", "--gold", str(gold))
    with pytest.raises(CommandError, match="cannot be written"):
        run("export_release", "set", "1.0.0", "--out", str(tmp_path / "nowhere" / "x.zip"))


def test_import_that_is_cancelled_on_its_page_stops_the_command(
    tmp_path: Path, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_dataset(slug="set")
    source = write_folder(tmp_path, {f"pages/p{n}.html": page(f"{n}") for n in range(5)})
    real = pages_service.import_page

    def cancelling(**kwargs: Any) -> None:
        real(**kwargs)
        if Document.objects.count() == 2:
            cancel_work(work=ImportRun.objects.get(), actor=organiser)

    monkeypatch.setattr(imports_service, "import_page", cancelling)
    with pytest.raises(CommandError, match="the import was cancelled"):
        run("import_dataset", "set", str(source))
    assert ImportRun.objects.get().state == "cancelled"
    assert Document.objects.count() == 2


def test_import_with_unreadable_metadata_fails_before_any_page(
    tmp_path: Path, settings: Any
) -> None:
    settings.ARCHIVE_MEMBER_LIMIT = 1000
    empty_dataset(slug="set")
    source = write_folder(tmp_path, {"pages/a.html": page(), "meta.jsonl": b" " * 2000})
    with pytest.raises(CommandError, match=r"meta\.jsonl: larger than"):
        run("import_dataset", "set", str(source))
    assert ImportRun.objects.get().state == "failed"
    assert not Document.objects.exists()
