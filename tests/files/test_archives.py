"""Archives from outside: what is read, what is refused, and that the refusal says why."""

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.files.archives import (
    LONGEST_MESSAGE,
    ArchiveFault,
    ArchiveLimits,
    Member,
    is_safe_name,
    open_archive,
)
from tests.datasets.factories import zip_bytes

LIMITS = ArchiveLimits()
MEGABYTE = 1024 * 1024


def zipped(**files: bytes) -> io.BytesIO:
    return io.BytesIO(zip_bytes(files))


def fault_of(source: io.BytesIO | Path, limits: ArchiveLimits = LIMITS) -> ArchiveFault:
    """The fault met while opening the archive and reading all of it."""
    with pytest.raises(ArchiveFault) as caught, open_archive(source, limits) as archive:
        for member in archive.members():
            archive.read(member.name)
    return caught.value


def test_zip_lists_and_reads_its_files() -> None:
    stream = zipped(**{"pages/a.html": b"<p>1</p>", "meta.jsonl": b"{}\n"})
    with open_archive(stream, LIMITS) as archive:
        assert archive.members() == [Member("pages/a.html", 8), Member("meta.jsonl", 3)]
        assert archive.read("pages/a.html") == b"<p>1</p>"


def test_folder_lists_sorted_and_leaves_links_out(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "b.html").write_bytes(b"b")
    (tmp_path / "pages" / "a.html").write_bytes(b"aa")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    with open_archive(tmp_path, LIMITS) as archive:
        assert archive.members() == [Member("pages/a.html", 2), Member("pages/b.html", 1)]
        assert archive.read("pages/a.html") == b"aa"


def test_folder_never_reads_outside_itself(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    with open_archive(inside, LIMITS) as archive, pytest.raises(ArchiveFault) as caught:
        archive.read("../outside")
    assert caught.value.code == "traversal"


def test_what_systems_add_by_themselves_is_passed_over() -> None:
    stream = zipped(**{"__MACOSX/._a": b"x", "a/.DS_Store": b"x", "a/b.html": b"x"})
    with open_archive(stream, LIMITS) as archive:
        assert [member.name for member in archive.members()] == ["a/b.html"]


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\x03\x04 cut off", b"\x00" * 5000])
def test_what_is_no_zip_is_refused(data: bytes) -> None:
    assert fault_of(io.BytesIO(data)).code == "not_a_zip"


def test_truncated_zip_is_refused() -> None:
    data = zipped(a=b"x" * 1000).getvalue()
    assert fault_of(io.BytesIO(data[:-30])).code == "not_a_zip"


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/../../b", "C:/x", "a\nb"])
def test_name_that_leads_elsewhere_is_refused_and_named(name: str) -> None:
    fault = fault_of(zipped(**{name: b"x"}))
    assert fault.code == "traversal"
    assert fault.member == name


def test_backslashes_do_not_lead_elsewhere() -> None:
    for name in ("..\\evil", "a\\..\\..\\b", "C:\\x", "\\\\host\\x"):
        assert fault_of(zipped(**{name: b"x"})).code == "traversal"


def test_link_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        bundle.writestr(info, "/etc/passwd")
    assert fault_of(stream).code == "link"


def test_encrypted_member_is_refused() -> None:
    data = bytearray(zipped(a=b"x").getvalue())
    # Bit 0 of the flags in the local header and in the central directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert fault_of(io.BytesIO(bytes(data))).code == "encrypted"


def test_same_name_twice_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as bundle:
        bundle.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            bundle.writestr("a", "2")
    assert fault_of(stream).code == "duplicate"


def test_bomb_by_ratio_is_refused_before_anything_is_unpacked() -> None:
    assert fault_of(zipped(a=b"0" * (20 * MEGABYTE))).code == "bomb"


def test_bomb_by_total_is_refused() -> None:
    limits = ArchiveLimits(total=1000)
    assert fault_of(zipped(a=bytes(range(250)) * 5), limits).code == "bomb"


def test_too_many_files_are_refused() -> None:
    limits = ArchiveLimits(members=3)
    assert fault_of(zipped(**{str(n): b"" for n in range(4)}), limits).code == "bomb"


def test_member_over_the_limit_is_refused_by_name_and_the_rest_is_readable() -> None:
    limits = ArchiveLimits(member=10)
    with open_archive(zipped(big=b"x" * 11, small=b"x" * 10), limits) as archive:
        assert archive.read("small") == b"x" * 10
        with pytest.raises(ArchiveFault) as caught:
            archive.read("big")
    assert (caught.value.code, caught.value.member) == ("too_large", "big")


def test_member_with_broken_data_is_refused_by_name() -> None:
    data = bytearray(zipped(a=bytes(range(256)) * 20).getvalue())
    data[60:70] = b"\xff" * 10
    fault = fault_of(io.BytesIO(bytes(data)))
    assert (fault.code, fault.member) == ("damaged", "a")


def test_directory_that_lies_about_sizes_cannot_unpack_more(
    lying_zip: Callable[[int, int], io.BytesIO],
) -> None:
    limits = ArchiveLimits(member=MEGABYTE)
    assert fault_of(lying_zip(2 * MEGABYTE, 100), limits).code in {"too_large", "damaged"}


@pytest.fixture
def lying_zip() -> Callable[[int, int], io.BytesIO]:
    """A ZIP of one member of the first size whose headers claim the second."""

    def make(real: int, claimed: int) -> io.BytesIO:
        data = bytearray(zipped(a=b"0" * real).getvalue())
        directory = data.index(b"PK\x01\x02")
        for offset in (22, directory + 24):
            data[offset : offset + 4] = claimed.to_bytes(4, "little")
        return io.BytesIO(bytes(data))

    return make


def test_a_name_of_any_length_is_cut_short_in_the_message() -> None:
    name = "a" * 5_000
    with pytest.raises(ArchiveFault) as caught, open_archive(zipped(**{name: b""}), LIMITS):
        pass
    assert len(str(caught.value)) == LONGEST_MESSAGE + 1
    assert caught.value.member == name


def test_a_message_of_the_longest_length_is_whole() -> None:
    longest = "a" * LONGEST_MESSAGE
    assert str(ArchiveFault("x", longest)) == longest
    assert str(ArchiveFault("x", f"{longest}b")) == f"{longest}…"


@given(st.binary(max_size=400))
def test_arbitrary_bytes_raise_nothing_else(data: bytes) -> None:
    try:
        with open_archive(io.BytesIO(data), LIMITS) as archive:
            for member in archive.members():
                archive.read(member.name)
    except ArchiveFault as fault:
        assert str(fault)


@given(st.text(max_size=50))
def test_safe_names_stay_below_their_folder(name: str) -> None:
    if is_safe_name(name):
        assert (Path("/root") / name).resolve().is_relative_to("/root")
        assert (Path("/root") / name).resolve() != Path("/root").resolve() or name.strip("/") == ""


def test_members_larger_than_memory_are_read_in_pieces(tmp_path: Path) -> None:
    data = bytes(range(256)) * 6000
    (tmp_path / "large.bin").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "large.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("large.bin", data)
    limits = ArchiveLimits(member=10)
    for source in (tmp_path, tmp_path / "large.zip"):
        with open_archive(source, limits) as archive:
            pieces = list(archive.pieces("large.bin"))
            with pytest.raises(ArchiveFault, match=r"large\.bin: larger than"):
                archive.read("large.bin")
        assert len(pieces) > 1
        assert b"".join(pieces) == data


def test_pieces_of_a_damaged_member_are_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "broken.zip"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("a.txt", b"first words")
    path.write_bytes(path.read_bytes().replace(b"first", b"fIrst"))
    with open_archive(path, ArchiveLimits()) as archive, pytest.raises(ArchiveFault) as fault:
        list(archive.pieces("a.txt"))
    assert (fault.value.code, fault.value.member) == ("damaged", "a.txt")


def test_pieces_are_never_taken_from_outside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "secret")
    with open_archive(inside, ArchiveLimits()) as archive:
        for name in ("../secret", "link", "none"):
            with pytest.raises(ArchiveFault, match=r"is outside the folder|not a file"):
                list(archive.pieces(name))
