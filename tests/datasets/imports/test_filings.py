"""Raw filings as items: names, guesses and the inline XBRL of their pages."""

from pathlib import Path

import pytest

from portal.datasets.imports.filings import guess_filing, read_filings, type_of_form
from portal.facts import canonicalise
from portal.facts.xbrl import XbrlResources, read_xbrl_details
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.datasets.imports.reading import LIMITS, items, names, refusals, zipped
from tests.shared import FILINGS, needs_filings

TWO_PAGES = b'<p>FORM 10-K</p><hr style="page-break-after:always"><p>Net sales 12</p>'
XBRL = """<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><ix:header><ix:resources>
<xbrli:context id="y"><xbrli:period><xbrli:startDate>2023-01-01</xbrli:startDate>
<xbrli:endDate>2023-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:unit id="u"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
</ix:resources></ix:header>
<p>FORM <ix:nonNumeric name="dei:DocumentType">10-Q</ix:nonNumeric></p>
<hr style="page-break-after:always">
<p>Loss (<ix:nonFraction name="us-gaap:Loss" contextRef="y" unitRef="u" sign="-" scale="6"
>1,200</ix:nonFraction>)</p></body></html>"""


def test_pages_are_called_after_their_file() -> None:
    found = items(read_filings(zipped({"set/acme 10k.htm": TWO_PAGES}), "a.zip", LIMITS))
    assert [(one.where, one.name) for one in found] == [
        ("set/acme 10k.htm:page 1", "acme 10k_p001"),
        ("set/acme 10k.htm:page 2", "acme 10k_p002"),
    ]
    assert canonicalise(found[1].html or "").text == "Net sales 12"


def test_lone_file_is_a_filing(tmp_path: Path) -> None:
    path = tmp_path / "acme.htm"
    path.write_bytes(TWO_PAGES)
    assert names(read_filings(path, path.name, LIMITS)) == ["acme_p001", "acme_p002"]
    with path.open("rb") as file:
        assert names(read_filings(file, "C:\\x\\acme.htm", LIMITS)) == ["acme_p001", "acme_p002"]


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    source = zipped({"a/main.htm": b"<p>one</p>", "b/main.htm": b"<p>two</p>"})
    assert names(read_filings(source, "x.zip", LIMITS)) == ["a_main_p001", "b_main_p001"]


def test_name_leaves_room_for_the_page() -> None:
    source = zipped({f"{'x' * 200}.htm": b"<p>one</p>"})
    (name,) = names(read_filings(source, "x.zip", LIMITS))
    assert len(name) <= 160
    assert name.endswith("_p001")


def test_filing_that_cannot_be_read_is_refused_and_the_rest_goes_on() -> None:
    source = zipped(
        {
            "a.htm": b"\x89PNG\r\n\x1a\n",
            "b.htm": b"",
            "c.htm": b"caf\xe9",
            "d.htm": b"<p>fine</p>",
            "e.htm": b"<p>large</p>" * 200,
            "f.jpg": b"ignored",
        }
    )
    read = list(read_filings(source, "x.zip", ArchiveLimits(member=1000)))
    assert refusals(read) == [
        ("a.htm", "binary"),
        ("b.htm", "empty"),
        ("c.htm", "encoding"),
        ("e.htm", "too_large"),
    ]
    assert names(read) == ["d_p001"]


@pytest.mark.parametrize("source", [{"a.pdf": b"%PDF-"}, {}])
def test_source_without_a_filing_is_unfit(source: dict[str, bytes]) -> None:
    with pytest.raises(ArchiveFault, match=r"the source has no \.htm"):
        list(read_filings(zipped(source), "x.zip", LIMITS))


def test_exhibits_of_a_submission_are_named_as_left_out() -> None:
    submission = (
        b"<SEC-HEADER>COMPANY CONFORMED NAME:\tACME CORP\n"
        b"CONFORMED PERIOD OF REPORT:\t20221231\n</SEC-HEADER>\n"
        b"<DOCUMENT>\n<TYPE>10-K405\n<TEXT>\nfirst\n<PAGE>\nsecond\n</TEXT>\n</DOCUMENT>\n"
        b"<DOCUMENT>\n<TYPE>EX-27\n<TEXT>\nlater\n</TEXT>\n</DOCUMENT>\n"
    )
    first, second = items(read_filings(zipped({"a.txt": submission}), "x.zip", LIMITS))
    assert [fault.code for fault in first.faults] == ["left_out"]
    assert "EX-27" in first.faults[0].reason
    assert second.faults == ()
    assert (first.meta.form_type, first.meta.doc_type) == ("10-K405", "financial_statement")
    assert (first.meta.company, first.meta.fiscal_year) == ("ACME CORP", 2022)
    assert (first.meta.metadata or {})["guessed"]["form_type"].startswith("the <TYPE>")


def test_facts_of_a_page_know_the_contexts_of_the_whole_filing() -> None:
    source = zipped({"a.htm": XBRL.encode()})
    first, second = items(read_filings(source, "x.zip", LIMITS))
    assert (first.meta.form_type, first.meta.doc_type) == ("10-Q", "financial_statement")
    canonical = canonicalise(second.html or "")
    assert second.xbrl is not None
    (detail,) = read_xbrl_details(second.html or "", canonical, second.xbrl).details
    assert canonical.text[detail.fact.start : detail.fact.end] == "1,200"
    assert (detail.sign, detail.scale, detail.unit) == ("-", 6, "USD")
    assert detail.period == ("2023-01-01", "2023-12-31")


def test_filing_without_inline_xbrl_has_no_resources() -> None:
    (one,) = items(read_filings(zipped({"a.htm": b"<p>x</p>"}), "x.zip", LIMITS))
    assert one.xbrl is None


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("10-K", "financial_statement"),
        ("10-Q/A", "financial_statement"),
        ("20-F", "financial_statement"),
        ("8-K", "supplemental_report"),
        ("8-K EX-99.1", "supplemental_report"),
        ("DEF 14A", "supplemental_report"),
        ("485BPOS", "supplemental_report"),
        ("990-EZ", "tax_form"),
        ("W-2", "tax_form"),
        ("4", "securities_transaction"),
        ("SC 13G", "securities_transaction"),
        ("424B5", "securities_transaction"),
        ("F-3 EX-FILING FEES", "securities_transaction"),
        ("S-1/A", "financial_legal"),
        ("EX-10.1", "financial_legal"),
        ("10-K EX-34.1", "financial_legal"),
        ("unknown", ""),
        ("", ""),
    ],
)
def test_form_type_says_what_kind_of_document_it_is(form: str, kind: str) -> None:
    assert type_of_form(form) == kind


@pytest.mark.parametrize(
    ("content", "path", "kind", "reason"),
    [
        ("<p>SCHEDULE 13G</p>", "a.htm", "securities_transaction", "SCHEDULE 13G"),
        ("<p>Filed pursuant to Rule 424(b)(4)</p>", "a.htm", "securities_transaction", "Rule 424"),
        ("<p>Report</p>", "acme.10-q.htm", "financial_statement", "the file's name"),
        ("<p>Consolidated Balance Sheets</p>", "a.htm", "financial_statement", "Balance Sheets"),
        ("<p>INDENTURE dated as of May 1</p>", "a.htm", "financial_legal", "INDENTURE"),
        ("<p>FOR IMMEDIATE RELEASE</p>", "a.htm", "supplemental_report", "IMMEDIATE RELEASE"),
        ("<p>A poem</p>", "a.htm", "other", ""),
    ],
)
def test_guess_gives_its_reason(content: str, path: str, kind: str, reason: str) -> None:
    guess = guess_filing(content, content, path, XbrlResources())
    assert guess.doc_type.value == kind
    assert reason in guess.doc_type.reason


@needs_filings
@pytest.mark.parametrize(
    ("name", "kind", "company", "year"),
    [
        ("10-K_0000950153-99-001234.html", "financial_statement", "MEDICIS", 1999),
        ("20-F_0000928385-01-500187.html", "financial_statement", "AEGON", 2000),
        ("8-K_0000887919-21-000012.html", "supplemental_report", "PREMIER", 2021),
        ("Delaware.485BPOS.html", "supplemental_report", "DELAWARE", 2023),
        ("aapl-10-k-2024-11-01.html", "financial_statement", "Apple", 2024),
        ("camp4_424b4.htm", "securities_transaction", "", None),
        ("nflx-10-q-2025-07-18.html", "financial_statement", "Netflix", 2025),
    ],
)
def test_real_filing_is_known_for_what_it_is(
    name: str, kind: str, company: str, year: int | None
) -> None:
    first = items(read_filings(FILINGS / name, name, LIMITS))[0]
    assert first.meta.doc_type == kind
    assert first.meta.company.startswith(company)
    assert first.meta.fiscal_year == year


@needs_filings
def test_pages_of_a_real_filing_keep_all_its_facts() -> None:
    name = "aapl-10-k-2024-11-01.html"
    details = [
        detail
        for page in items(read_filings(FILINGS / name, name, LIMITS))
        if page.html and page.xbrl
        for detail in read_xbrl_details(page.html, canonicalise(page.html), page.xbrl).details
    ]
    assert len(details) == 914
    assert all(detail.period.end for detail in details)
    assert {detail.unit for detail in details if detail.fact.kind == "number"} >= {
        "USD",
        "shares",
        "USD/shares",
        "pure",
    }
    assert sum(detail.sign == "-" for detail in details) == 61
