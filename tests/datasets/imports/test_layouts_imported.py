"""Imports in every layout: the documents they create, and that importing twice changes nothing."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet

from portal.accounts.models import User
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.imports.services import check_source, import_path, start_import
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentRecord,
    ImportRun,
    PageImage,
    XbrlFacts,
)
from portal.files.archives import ArchiveFault
from tests.datasets.factories import jpeg, outcomes, page, png, write_folder, zip_bytes
from tests.factories import empty_dataset

from . import layouts
from .layouts import (
    FILING,
    FORMS,
    GOLD,
    NAMES,
    OTHER_FORMS,
    PAGE,
    QUESTION,
    SOURCES,
    Form,
    import_files,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    return empty_dataset(slug="set")


@pytest.mark.parametrize("form", FORMS)
def test_source_becomes_documents(form: str, dataset: Dataset, tmp_path: Path) -> None:
    run = import_files(dataset, tmp_path, form, SOURCES[form])
    assert list(dataset.documents.values_list("name", flat=True)) == NAMES[form]
    assert {outcome for outcome, _ in outcomes(run).values()} == {"imported"}
    assert (run.state, run.form, run.total) == ("done", form, len(NAMES[form]))


@pytest.mark.parametrize("form", FORMS)
def test_importing_again_changes_nothing(form: str, dataset: Dataset, tmp_path: Path) -> None:
    import_files(dataset, tmp_path, form, SOURCES[form])
    models = (Document, DocumentContent, DocumentRecord, PageImage, XbrlFacts)
    before = [list(model.objects.values()) for model in models]
    again = import_files(dataset, tmp_path / "again", form, SOURCES[form])
    assert set(outcomes(again).values()) == {("unchanged", "")}
    assert set(again.items.values_list("reason", flat=True)) == {""}
    assert [list(model.objects.values()) for model in models] == before


@pytest.mark.parametrize("form", FORMS)
def test_upload_is_imported_by_a_worker(
    form: str, dataset: Dataset, organiser: User, run_jobs: Callable[[], int]
) -> None:
    upload = SimpleUploadedFile("source.zip", zip_bytes(SOURCES[form]))
    run = start_import(
        dataset=dataset, upload=upload, source_name="source.zip", actor=organiser, form=form
    )
    run_jobs()
    run.refresh_from_db()
    assert run.state == "done"
    assert list(dataset.documents.values_list("name", flat=True)) == NAMES[form]


@pytest.mark.parametrize("form", FORMS)
def test_cancelled_import_takes_nothing_more(
    form: str, dataset: Dataset, tmp_path: Path, organiser: User
) -> None:
    seen: list[int] = []

    def cancel(done: int, _: int) -> None:
        seen.append(done)
        cancel_work(work=ImportRun.objects.get(), actor=organiser)

    path = write_folder(tmp_path, _several(form))
    run = import_path(dataset=dataset, path=path, form=form, progress=cancel)
    assert run.state == "cancelled"
    assert dataset.documents.count() == 1
    assert seen[0] == 1


def _several(form: str) -> dict[str, bytes | str]:
    """A source of three documents."""
    numbers = range(3)
    if form == Form.PAGES:
        return {f"pages/p{n}.html": page(f"{n}") for n in numbers}
    if form == Form.FILING:
        return {f"f{n}.htm": page(f"{n}") for n in numbers}
    if form == Form.FINCRITICALED:
        rows = [{"id": f"p{n}", "matched_html": f"<p>{n}</p>"} for n in numbers]
        return {"a.csv": layouts.csv_table(*rows)}
    if form == Form.LABEL_STUDIO:
        tasks = [layouts.studio_task(f"<p>1,200 of {n}</p>", f"p{n}") for n in numbers]
        return {"a.json": json.dumps(tasks)}
    if form == Form.FCMBENCH:
        return dict(layouts.questions(*({**QUESTION, "id": f"q{n}"} for n in numbers)))
    if form == Form.CCOCR:
        files = dict(SOURCES[form])
        for n in numbers:
            files[f"data/CORD/images/{n}.png"] = png(shade=n)
        labels = {f"{n}.png": {"total": str(n)} for n in numbers}
        return {**files, "data/CORD/label.json": json.dumps(labels)}
    if form == Form.RECEIPTS:
        pictures = {f"r{n}.png": png(shade=n) for n in numbers}
        return {**pictures, **{f"r{n}.json": json.dumps({"total": n}) for n in numbers}}
    return {
        "a.parquet": layouts.parquet(*({"id": f"p{n}", "html": f"<p>{n}</p>"} for n in numbers))
    }


def test_filing_is_split_guessed_and_keeps_its_inline_xbrl(
    dataset: Dataset, tmp_path: Path
) -> None:
    filing = FILING.replace(
        "<p>Sales 1,200</p>",
        '<ix:header><ix:resources><xbrli:context id="c"><xbrli:period><xbrli:startDate>2024-01-01'
        "</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate></xbrli:period>"
        '</xbrli:context><xbrli:unit id="u"><xbrli:measure>iso4217:USD</xbrli:measure>'
        "</xbrli:unit></ix:resources></ix:header>"
        '<p>Loss <ix:nonFraction name="us-gaap:NetIncomeLoss" sign="-" scale="6" unitRef="u"'
        ' contextRef="c">1,200</ix:nonFraction></p>',
    ).replace(
        "assets 3,400",
        'assets <ix:nonFraction name="us-gaap:Assets" unitRef="u">3,400</ix:nonFraction>',
    )
    path = tmp_path / "acme.htm"
    path.write_text(filing)
    run = import_path(dataset=dataset, path=path, form=Form.FILING)
    first, second = dataset.documents.order_by("name")
    assert outcomes(run) == {
        "acme.htm:page 1": ("imported", ""),
        "acme.htm:page 2": ("imported", ""),
    }
    assert first.form_type == "10-K"
    assert first.metadata["filing"] == "acme.htm"
    text = first.content.text
    start = text.index("1,200")
    assert first.xbrl_facts.facts == [
        [
            *(start, start + 5, "number", "us-gaap:NetIncomeLoss"),
            {"sign": "-", "scale": 6, "unit": "USD", "period": "2024-01-01/2024-12-31"},
        ]
    ]
    # The unit is in the header, which is on the first page.
    assert second.xbrl_facts.facts[0][3:] == ["us-gaap:Assets", {"unit": "USD"}]


def test_gold_of_a_page_is_kept_as_it_came(dataset: Dataset, tmp_path: Path) -> None:
    import_files(dataset, tmp_path, Form.FINCRITICALED, SOURCES[Form.FINCRITICALED])
    record = DocumentRecord.objects.select_related("document").get()
    assert (record.benchmark, record.gold) == ("fincriticaled", {"id": "p1", "html": GOLD})
    assert record.document.content.html == PAGE
    assert (record.document.source, record.document.kind) == ("fincriticaled", "page")


def test_gold_of_another_page_is_a_fault_and_the_page_comes_in(
    dataset: Dataset, tmp_path: Path
) -> None:
    files = {**SOURCES[Form.FINCRITICALED], "gold/p1.html": GOLD.replace("sales", "costs")}
    run = import_files(dataset, tmp_path, Form.FINCRITICALED, files)
    assert outcomes(run) == {
        "test.csv:2": ("imported", ""),
        "test.csv:2 gold": ("refused", "gold_differs"),
    }
    reason = run.items.get(code="gold_differs").reason
    assert reason == (
        "the text without tags differs from the page: at character 4 it has"
        " 'costs 1,200 at March 31, 2025', the document has 'sales 1,200 at March 31, 2025'"
    )
    assert not DocumentRecord.objects.exists()


def test_gold_that_comes_later_is_added_and_other_gold_is_not(
    dataset: Dataset, tmp_path: Path
) -> None:
    table = {"test.csv": SOURCES[Form.FINCRITICALED]["test.csv"]}
    import_files(dataset, tmp_path / "1", Form.FINCRITICALED, table)
    run = import_files(dataset, tmp_path / "2", Form.FINCRITICALED, SOURCES[Form.FINCRITICALED])
    item = run.items.get()
    assert (item.outcome, item.reason) == ("updated", "gold added")
    other = {**table, "gold/p1.html": GOLD.replace("Date", "Temporal")}
    run = import_files(dataset, tmp_path / "3", Form.FINCRITICALED, other)
    assert run.items.get().reason == "different gold not imported"
    update = ImportRun.Differences.UPDATE
    run = import_path(
        dataset=dataset,
        path=tmp_path / "3" / "source.zip",
        form=Form.FINCRITICALED,
        differences=update,
    )
    assert run.items.get().reason == "different gold not imported"
    assert DocumentRecord.objects.get().gold["html"] == GOLD


def test_gold_that_comes_later_brings_its_strata(dataset: Dataset, tmp_path: Path) -> None:
    import_files(dataset, tmp_path / "1", Form.FCMBENCH, layouts.questions())
    wanted = Document.objects.values_list("category", "subset", "condition").get()
    assert any(wanted)
    # As imported without gold: records themselves are immutable.
    QuerySet(DocumentRecord)._raw_delete("default")
    Document.objects.update(category="", subset="", condition="")
    run = import_files(dataset, tmp_path / "2", Form.FCMBENCH, layouts.questions())
    assert run.items.get().reason == "gold added"
    assert Document.objects.values_list("category", "subset", "condition").get() == wanted


def test_two_questions_of_one_picture_are_two_documents(dataset: Dataset, tmp_path: Path) -> None:
    files = layouts.questions(QUESTION, {**QUESTION, "id": "q2"})
    import_files(dataset, tmp_path, Form.FCMBENCH, files)
    first, second = dataset.documents.order_by("name")
    content = (
        '{"benchmark":"fcmbench","name":"q1","pictures":["'
        + hashlib.sha256(png()).hexdigest()
        + '"],"prompt":"What is it?"}'
    )
    assert first.html_sha256 == hashlib.sha256(content.encode()).hexdigest()
    assert first.html_sha256 != second.html_sha256
    assert first.source_sha256 == second.source_sha256 == hashlib.sha256(png()).hexdigest()
    assert (first.kind, first.text_chars, first.language) == ("picture", 0, "zh")
    assert not DocumentContent.objects.exists()
    assert [image.number for image in PageImage.objects.all()] == [1, 1]
    record = first.record
    assert (record.prompt, record.gold["response"]) == ("What is it?", QUESTION["response"])


def test_changed_question_under_a_taken_name_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    import_files(dataset, tmp_path / "1", Form.FCMBENCH, layouts.questions())
    changed = layouts.questions({**QUESTION, "question": "And now?"})
    run = import_files(dataset, tmp_path / "2", Form.FCMBENCH, changed)
    assert outcomes(run) == {"bench.jsonl:1": ("refused", "name_taken")}
    assert "rename the picture" in run.items.get().reason


def test_question_of_which_one_picture_is_bad_is_refused_whole(
    dataset: Dataset, tmp_path: Path
) -> None:
    asked = {**QUESTION, "images": ["images/card.png", "images/bad.png"]}
    files = {**layouts.questions(asked, {**QUESTION, "id": "q2"}), "images/bad.png": png()[:40]}
    run = import_files(dataset, tmp_path, Form.FCMBENCH, files)
    assert outcomes(run) == {
        "bench.jsonl:1": ("refused", "image_broken"),
        "bench.jsonl:2": ("imported", ""),
    }
    assert "image 2, images/bad.png" in run.items.get(name="bench.jsonl:1").reason
    assert PageImage.objects.count() == 1


def test_pictures_of_a_question_keep_their_order(dataset: Dataset, tmp_path: Path) -> None:
    asked = {**QUESTION, "images": ["images/b.jpg", "images/card.png"]}
    import_files(
        dataset, tmp_path, Form.FCMBENCH, {**layouts.questions(asked), "images/b.jpg": jpeg()}
    )
    images = PageImage.objects.order_by("number")
    assert [(image.number, image.suffix) for image in images] == [(1, ".jpg"), (2, ".png")]


def test_parquet_rows_are_metadata_or_gold_of_a_benchmark(dataset: Dataset, tmp_path: Path) -> None:
    source = SOURCES[Form.PARQUET]
    import_files(dataset, tmp_path / "1", Form.PARQUET, source)
    plain = dataset.documents.get()
    assert (plain.metadata, plain.source) == ({"x": 3}, "")
    other = empty_dataset(slug="other")
    run = import_files(other, tmp_path / "2", Form.PARQUET, source, benchmark="receiptbench")
    assert run.options == {"benchmark": "receiptbench"}
    assert other.documents.get().record.gold == {"id": "p1", "x": 3}
    assert other.documents.get().source == "receiptbench"


def test_source_is_the_host_of_a_pages_address(dataset: Dataset, tmp_path: Path) -> None:
    line = {"id": "p1", "source_url": "https://www.sec.gov/Archives/x.htm"}
    files = {**SOURCES[Form.PAGES], "meta.jsonl": layouts.json_lines(line)}
    import_files(dataset, tmp_path, Form.PAGES, files)
    assert dataset.documents.get().source == "sec.gov"


def test_files_that_a_layout_does_not_read_are_counted(dataset: Dataset, tmp_path: Path) -> None:
    files = {**SOURCES[Form.FCMBENCH], "README.md": b"x", "old/a.pdf": b"x", "old/b.pdf": b"x"}
    run = import_files(dataset, tmp_path, Form.FCMBENCH, files)
    assert run.ignored == {"README.md": 1, "old/": 2}


# Form → a file that has an ending of the layout, but that nothing in the source names.
STRAYS: dict[str, str] = {
    Form.PAGES: "gold/p1.html",
    Form.FILING: "gold/p1.json",
    Form.FINCRITICALED: "predictions/p1.html",
    Form.LABEL_STUDIO: "predictions/p1.html",
    Form.FCMBENCH: "images/unnamed.png",
    Form.CCOCR: "data/Other/label.json",
    Form.RECEIPTS: "gold/gold.jsonl",
    Form.PARQUET: "images/unnamed.png",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("root", ["", "set/"])
def test_what_nothing_read_is_counted_in_every_layout(
    form: str, root: str, dataset: Dataset, tmp_path: Path
) -> None:
    stray = STRAYS[form]
    files = {root + name: content for name, content in {**SOURCES[form], stray: b"x"}.items()}
    run = import_files(dataset, tmp_path, form, files)
    folder = stray.partition("/")[0] + "/"
    assert run.ignored == {folder if form == Form.PAGES else root + folder: 1}
    assert sorted(dataset.documents.values_list("name", flat=True)) == NAMES[form]


def test_an_import_taken_up_again_counts_the_same(dataset: Dataset, tmp_path: Path) -> None:
    files = {**SOURCES[Form.RECEIPTS], "gold.jsonl": b"x"}
    first = import_files(dataset, tmp_path / "1", Form.RECEIPTS, files)
    again = import_files(dataset, tmp_path / "2", Form.RECEIPTS, files)
    assert outcomes(again) == {"r1.json": ("unchanged", "")}
    assert first.ignored == again.ignored == {"gold.jsonl": 1}


def test_an_image_that_comes_later_updates_its_document(dataset: Dataset, tmp_path: Path) -> None:
    plain = {"pages/a.html": page("Other 7")}
    import_files(dataset, tmp_path / "3", Form.PAGES, plain)
    run = import_files(dataset, tmp_path / "4", Form.PAGES, {**plain, "images/a.png": png()})
    item = run.items.get()
    assert (item.outcome, item.reason) == ("updated", "image added")
    run = import_files(dataset, tmp_path / "5", Form.PAGES, {**plain, "images/a.png": png()})
    assert outcomes(run) == {"pages/a.html": ("unchanged", "")}


def test_long_places_are_cut_and_stay_apart(dataset: Dataset, tmp_path: Path) -> None:
    folder = "/".join(["n" * 90] * 3)
    files = {f"{folder}/{n}{'x' * 20}.htm": page(f"{n}") for n in range(2)}
    run = import_files(dataset, tmp_path, Form.FILING, files)
    names = list(run.items.values_list("name", flat=True))
    assert [len(name) <= 300 for name in names] == [True, True]
    assert len(set(names)) == 2
    again = import_files(dataset, tmp_path / "2", Form.FILING, files)
    assert set(outcomes(again).values()) == {("unchanged", "")}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_source_of_another_layout_is_refused_before_it_is_accepted(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zip_bytes({"notes.docx": b"x"}))
    with pytest.raises(ArchiveFault, match="the source has no"):
        check_source(path, form, name="a.zip")


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_file_of_another_kind_is_refused_by_its_ending(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"x")
    with pytest.raises(ArchiveFault, match=r"this format accepts \.zip"):
        check_source(path, form, name="a.docx")


def test_source_of_which_nothing_can_be_taken_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.htm"
    path.write_bytes(b"%PDF-1.4 " + bytes(range(256)))
    with pytest.raises(ArchiveFault, match=r"a\.htm"):
        check_source(path, Form.FILING, name="a.htm")
    path.write_bytes(b"")
    with pytest.raises(ArchiveFault):
        check_source(path, Form.FILING, name="a.htm")
