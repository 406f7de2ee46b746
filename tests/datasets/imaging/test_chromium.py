"""Chromium over its pipe: a page prints, errors are reported, nothing is left behind."""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from portal.datasets.imaging.chromium import ChromiumError, open_tab
from portal.datasets.imaging.renderer import family, find_chromium

pytestmark = pytest.mark.browser


def text_of(pdf: bytes) -> str:
    document = PdfDocument(pdf)
    try:
        return str(document[0].get_textpage().get_text_range())
    finally:
        document.close()


def browsers() -> list[int]:
    return family(os.getpid())[1:]


def test_prints_what_is_shown_and_runs_no_script() -> None:
    with open_tab(find_chromium("chromium"), sandbox=False) as tab:
        tab.show("<p>Net sales <b>1,200</b></p><script>document.body.textContent = 'x'</script>")
        first = tab.print_pdf(width=8.5, height=11, sheets=1)
        tab.show("<p>Net loss (15)</p>" * 200)
        second = tab.print_pdf(width=8.5, height=11, sheets=2)
    assert text_of(first).strip() == "Net sales 1,200"
    document = PdfDocument(second)
    assert len(document) == 2
    document.close()


def test_a_refused_command_is_named() -> None:
    with (
        open_tab(find_chromium("chromium"), sandbox=False) as tab,
        pytest.raises(ChromiumError, match=r"Page\.printToPDF: "),
    ):
        tab.print_pdf(width=-1, height=11, sheets=1)


def test_a_browser_that_dies_is_reported_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(browsers())
    with open_tab(find_chromium("chromium"), sandbox=False) as tab:
        for pid in set(browsers()) - before:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(ChromiumError, match="has ended"):
            tab.show("<p>1</p>")
    assert set(browsers()) <= before
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_cannot_start_is_an_error() -> None:
    with pytest.raises(ChromiumError), open_tab("/nowhere/chromium", sandbox=False):
        pass
