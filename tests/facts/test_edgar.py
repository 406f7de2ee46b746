"""EDGAR's envelope around the documents of a submission."""

import pytest

from portal.facts import RefusedHtml, canonicalise
from portal.facts.file_reading import open_envelope

ONE = """<SEC-DOCUMENT>0001.txt
<SEC-HEADER>COMPANY CONFORMED NAME: ACME</SEC-HEADER>
<DOCUMENT>
<TYPE>10-K
<SEQUENCE>1
<FILENAME>acme.htm
<TEXT>
<html><body><p>Revenue 1,200</p></body></html>
</TEXT>
</DOCUMENT>
"""
EXHIBIT = "<DOCUMENT>\n<TYPE>EX-21\n<TEXT>Subsidiaries</TEXT>\n</DOCUMENT>\n"


def test_canonicalise_takes_the_document_out_of_its_envelope() -> None:
    document = canonicalise(ONE)
    assert document.html == "<p>Revenue 1,200</p>"
    assert document.notes == ()


def test_canonicalise_names_the_documents_that_it_leaves_out() -> None:
    document = canonicalise(ONE + EXHIBIT + EXHIBIT.replace("EX-21", "GRAPHIC"))
    assert document.text == "Revenue 1,200"
    assert document.notes == ("imported document 1 of 3 (10-K); not imported: EX-21, GRAPHIC",)


def test_open_envelope_leaves_other_pages_alone() -> None:
    page = "<html><body>The tags &lt;DOCUMENT> and <DOCUMENT>\n<TYPE>10-K</body></html>"
    assert open_envelope(page).content == page


@pytest.mark.parametrize(
    "cut", ["</TEXT>\n</DOCUMENT>\n", "</DOCUMENT>\n", "<TEXT>\n", "</body></html>\n</TEXT>"]
)
def test_canonicalise_copes_with_a_torn_envelope(cut: str) -> None:
    assert "Revenue 1,200" in canonicalise(ONE.replace(cut, "")).text


def test_canonicalise_refuses_a_pdf_in_an_envelope() -> None:
    with pytest.raises(RefusedHtml, match="PDF") as caught:
        canonicalise("<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n<PDF>\nbegin 644 x.pdf\n</PDF></TEXT>")
    assert caught.value.code == "binary"
