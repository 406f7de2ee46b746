"""Detection of the kind of files uploaded by mistake."""

import gzip
import io
import tarfile
import zipfile

import pytest

from portal.facts.file_reading import kind_of, kind_of_file, mistaken
from tests.many import together


def tar() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as bundle:
        member = tarfile.TarInfo("submission.jsonl")
        member.size = 2
        bundle.addfile(member, io.BytesIO(b"{}"))
    return data.getvalue()


def office() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr("[Content_Types].xml", "<Types/>")
        bundle.writestr("xl/workbook.xml", "<workbook/>")
    return data.getvalue()


def packed(name: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(name, "x")
    return data.getvalue()


LINE = '{"id": "p1", "html": "<p>é 1,200"}\n'
KINDS = {
    "tar": (tar(), "a tar archive"),
    "tar.gz": (gzip.compress(tar()), "a tar archive, gzipped"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + bytes(20), "a RAR archive"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(20), "a 7z archive"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
    "xlsx": (office(), "an Office document, such as .xlsx or .docx"),
    "zip": (packed("a.txt"), "a ZIP archive"),
    "utf-16": (LINE.encode("utf-16"), "text in UTF-16"),
    "utf-16-le": (LINE.encode("utf-16-le"), "a binary file"),
    "utf-16-be": (LINE.replace("é", "e").encode("utf-16-be"), "text in UTF-16"),
    "utf-32": (LINE.encode("utf-32"), "text in UTF-32"),
    "utf-32-le": (LINE.replace("é", "e").encode("utf-32-le"), "text in UTF-32"),
    "gz of utf-16": (gzip.compress(LINE.encode("utf-16")), "text in UTF-16, gzipped"),
    "binary": (bytes(range(256)) * 4, "a binary file"),
    "controls": (b"\x01\x02\x03abc" * 20, "a binary file"),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE html><p>x", "an HTML or XML page"),
    "parquet": (b"PAR1\x15\x04", "a Parquet file"),
    "lines": (LINE.encode(), ""),
    "lines with a mark": (LINE.encode("utf-8-sig"), ""),
    "latin-1": (LINE.encode("latin-1"), ""),
    "gz of lines": (gzip.compress(LINE.encode()), "a gzip file"),
    "broken gz": (gzip.compress(LINE.encode())[:14], "a gzip file"),
    "one control": (b"Net sales\x0b of the year, and so on and on", ""),
    "empty": (b"", ""),
}


@together("name", list(KINDS))
def test_kind_of_a_file(name: str) -> None:
    data, expected = KINDS[name]
    file = io.BytesIO(data)
    assert kind_of_file(file) == expected
    assert file.tell() == 0


def test_a_mistaken_file_is_told_in_one_sentence() -> None:
    accepted = "JSON Lines are accepted"
    assert mistaken(io.BytesIO(tar()), {""}, accepted) == (
        "looks like a tar archive; JSON Lines are accepted"
    )
    assert mistaken(io.BytesIO(LINE.encode()), {""}, accepted) == ""


@pytest.mark.parametrize("length", range(12))
def test_short_beginnings_are_of_some_kind(length: int) -> None:
    for data, _ in KINDS.values():
        assert isinstance(kind_of(data[:length]), str)
