"""Names of files are read whichever system wrote them."""

import io
import struct
import zipfile
from pathlib import Path
from unicodedata import normalize

import pytest

from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from tests.datasets.factories import write_folder, zip_bytes

LIMITS = ArchiveLimits()
SPLIT = normalize("NFD", "é")


def names(source: io.BytesIO | Path) -> list[str]:
    with open_archive(source, LIMITS) as archive:
        found = [member.name for member in archive.members()]
        assert all(archive.read(name) == b"x" for name in found)
    return found


def old_zip(*written: bytes, extra: bytes = b"") -> io.BytesIO:
    """A ZIP whose names are these bytes, without the flag for UTF-8."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        for number, name in enumerate(written):
            info = zipfile.ZipInfo(f"{number}".rjust(len(name), "n"))
            info.extra = extra
            bundle.writestr(info, b"x")
    data = stream.getvalue()
    for number, name in enumerate(written):
        data = data.replace(f"{number}".rjust(len(name), "n").encode(), name)
    return io.BytesIO(data)


def test_names_are_composed() -> None:
    assert names(io.BytesIO(zip_bytes({f"pages/{SPLIT}.html": b"x"}))) == ["pages/é.html"]


def test_names_in_a_folder_are_composed(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "a", {f"pages/{SPLIT}.html": b"x", "pages/e.html": b"x"})
    assert names(folder) == ["pages/e.html", "pages/é.html"]


def test_names_that_differ_in_their_form_alone_are_refused(tmp_path: Path) -> None:
    files = {f"{SPLIT}.html": b"x", "é.html": b"x"}
    for source in (write_folder(tmp_path / "a", files), io.BytesIO(zip_bytes(files))):
        with pytest.raises(ArchiveFault, match=r"é\.html: appears more than once") as caught:
            names(source)
        assert caught.value.code == "duplicate"


@pytest.mark.parametrize(
    "clutter", [".DS_Store", "pages/._a.html", "__MACOSX/pages/._a", "a/desktop.ini", "Thumbs.db"]
)
def test_files_of_operating_systems_are_passed_over(tmp_path: Path, clutter: str) -> None:
    files = {clutter: b"y", "pages/a.html": b"x"}
    assert names(io.BytesIO(zip_bytes(files))) == ["pages/a.html"]
    assert names(write_folder(tmp_path / "a", files)) == ["pages/a.html"]


def test_backslashes_separate_folders() -> None:
    packed = zip_bytes({"set\\pages\\a.html": b"x", "set\\pages\\": b""})
    assert names(io.BytesIO(packed)) == ["set/pages/a.html"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("2024年/決算短信.html".encode("cp932"), "2024年/決算短信.html"),
        ("ﾃﾞｰﾀ".encode(), "ﾃﾞｰﾀ"),
        ("カタカナ表.html".encode("cp932"), "カタカナ表.html"),
        ("财务报表_2024.html".encode("gbk"), "财务报表_2024.html"),
        (f"caf{SPLIT}.html".encode(), "café.html"),
        ("Größe.html".encode("cp437"), "Größe.html"),
        ("résumé/étude.html".encode("cp437"), "résumé/étude.html"),
        ("año.html".encode("cp850"), "año.html"),
    ],
)
def test_names_in_old_encodings_are_read(written: bytes, name: str) -> None:
    assert names(old_zip(written)) == [name]


def test_all_names_are_read_in_one_encoding() -> None:
    found = names(old_zip("表".encode("cp932"), "決算".encode("cp932"), b"ascii.html"))
    assert found == ["表", "決算", "ascii.html"]


@pytest.mark.parametrize(
    "written", ["отчёт".encode("cp866"), "보고서".encode("cp949"), "café.html".encode("cp1252")]
)
def test_names_in_an_unknown_encoding_are_refused(written: bytes) -> None:
    with pytest.raises(ArchiveFault, match="in an unknown encoding; pack it with a tool") as caught:
        names(old_zip(written))
    assert caught.value.code == "file_names"


def test_name_in_the_extra_field_counts() -> None:
    name = "보고서.html".encode()
    extra = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, 0) + name
    assert names(old_zip("보고서.html".encode("cp949"), extra=extra)) == ["보고서.html"]
