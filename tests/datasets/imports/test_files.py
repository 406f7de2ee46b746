"""Opening sources, finding pictures in them, and reading their JSON."""

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.imports.items import (
    DEEPEST,
    ItemError,
    JsonError,
    PicturePaths,
    name_from_path,
    picture_from_text,
    read_json,
    read_object,
)
from portal.datasets.imports.layouts import Form, left_alone
from portal.datasets.imports.opening import open_source
from portal.datasets.models.documents import document_name
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.counting import LINEAR, growth
from tests.datasets.imports.reading import LIMITS, picture, zipped

HOSTILE = ["../x.png", "a/../../x.png", "", "  ", "no.png", "/etc/passwd"]


def find(path: str, *names: str, folder: str = "") -> str:
    """The name of the picture that is found."""
    with open_source(zipped(dict.fromkeys(names, b"x")), "a.zip", LIMITS) as files:
        return PicturePaths(files).find(path, folder=folder).shown


def test_folder_zip_and_lone_file_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"here")
    for source in (tmp_path, zipped({"a.txt": b"here"}), tmp_path / "a.txt"):
        with open_source(source, "up/a.txt", LIMITS) as files:
            assert files.names == ["a.txt"]
            assert files.read("a.txt") == b"here"
            with files.open("a.txt") as file:
                assert file.read() == b"here"


def test_zip_is_known_by_its_bytes_and_a_false_name_is_refused() -> None:
    with open_source(zipped({"a.txt": b"x"}), "data.bin", LIMITS) as files:
        assert files.names == ["a.txt"]
    with (
        pytest.raises(ArchiveFault, match="not a readable ZIP"),
        open_source(Path(__file__), "false.zip", LIMITS) as _,
    ):
        pass


def test_lone_file_larger_than_a_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 11)
    with (
        open_source(path, "a.txt", ArchiveLimits(member=10)) as files,
        pytest.raises(ArchiveFault, match="larger than allowed"),
    ):
        files.read("a.txt")


def test_folder_opens_no_file_outside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.txt").write_bytes(b"secret")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    with open_source(tmp_path / "in", "in", LIMITS) as files:
        assert files.names == []
        for name in ("link.txt", "../out.txt"):
            with pytest.raises(ArchiveFault), files.open(name) as _:
                pass


def test_missing_file_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(ArchiveFault, match=r"gone\.csv: cannot be read"),
        open_source(tmp_path / "gone.csv", "gone.csv", LIMITS) as _,
    ):
        pass


def test_hidden_files_are_no_part_of_a_source() -> None:
    with open_source(zipped({".a.csv": b"", "d/.b.csv": b"", "C.CSV": b""}), "x", LIMITS) as files:
        assert files.named(".csv") == ["C.CSV"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("images/a.png", "images/a.png"),
        ("./images/a.png", "images/a.png"),
        ("images\\a.png", "images/a.png"),
        ("/home/authors/data/images/a.png", "images/a.png"),
        ("a.png", "images/a.png"),
        ("a", "images/a.png"),
        ("x/b.jpg", "x/b.jpg"),
        ("deep/y/b.jpg", "y/b.jpg"),
        ("re\u0301sume\u0301.png", "résumé.png"),
    ],
)
def test_picture_is_found_by_the_end_of_its_path(path: str, found: str) -> None:
    assert find(path, "images/a.png", "x/b.jpg", "y/b.jpg", "résumé.png", "notes.txt") == found


def test_picture_in_the_folder_of_the_table_comes_first() -> None:
    assert find("a.png", "x/a.png", "y/a.png", folder="y") == "y/a.png"


def test_picture_that_may_be_two_is_refused() -> None:
    with pytest.raises(ItemError, match=r"matches x/a\.png and y/a\.png"):
        find("a.png", "x/a.png", "y/a.png")


@pytest.mark.parametrize("path", HOSTILE)
def test_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(ItemError) as caught:
        find(path, "x.png")
    assert caught.value.code == "no_image"


def test_finding_does_not_slow_down_with_equal_names() -> None:
    def build(size: int) -> None:
        pictures = {f"{n}/a.png": b"" for n in range(size)}
        with open_source(zipped(pictures), "x", LIMITS) as files:
            paths = PicturePaths(files)
            assert all(paths.find(name).shown == name for name in pictures)

    assert growth(build, 40) <= LINEAR


def test_picture_in_base64_is_decoded_when_it_is_read() -> None:
    packed = base64.b64encode(picture()).decode()
    found = picture_from_text("here", f"data:image/png;base64,{packed}", 10_000)
    assert found is not None
    assert found.read() == picture()
    assert picture_from_text("here", "images/a.png", 10_000) is None
    assert picture_from_text("here", "images/page 1, left.png", 10_000) is None
    assert picture_from_text("here", "QUJD" * 100, 10_000) is not None


def test_damaged_or_large_base64_is_refused() -> None:
    damaged = picture_from_text("here", "data:image/png;base64,@@@", 10_000)
    assert damaged is not None
    with pytest.raises(ArchiveFault, match="here: the image is not base64"):
        damaged.read()
    with pytest.raises(ItemError, match="larger than allowed"):
        picture_from_text("here", "data:,AAAA", 3)


@given(st.text(min_size=0, max_size=300))
def test_any_path_gives_a_name(path: str) -> None:
    name = name_from_path(path)
    assert document_name(name) == name


@pytest.mark.parametrize(
    ("data", "reason", "line"),
    [
        (b"{", "not JSON", 1),
        (b'{\n"a" 1}', "not JSON", 2),
        (b'\n"\xff"', "not UTF-8 at byte 3", 2),
        (b'{"a": NaN}', "NaN is not a JSON number", 1),
        (b'{"a": 1, "a": 2}', "duplicate key", 1),
        (b'"\\u0000"', "NUL", 1),
        (b'"\\ud800"', "a surrogate", 1),
        (b'{"\\ud800": 1}', "a surrogate", 1),
        (b"1e999", "too large", 1),
        (b"1" * 5000, "too many digits", 1),
        (b"[" * 100_000, "nested", 1),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "nested", 1),
    ],
)
def test_json_that_cannot_be_kept_is_refused(data: bytes, reason: str, line: int) -> None:
    with pytest.raises(JsonError, match=reason) as caught:
        read_json(data)
    assert caught.value.line == line


def test_json_that_is_no_object_is_refused() -> None:
    assert read_object(b'\xef\xbb\xbf{"a": [1.5, null, "\xc3\xa9"]}') == {"a": [1.5, None, "é"]}
    with pytest.raises(JsonError, match="must be a JSON object"):
        read_object(b"[]")


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # NUL and halves of characters are refused.
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(_VALUES)
def test_plain_json_comes_back_as_it_was(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


def test_files_outside_the_layout_are_counted_by_folder(tmp_path: Path) -> None:
    for name in ("a.json", "notes.txt", "old/b.bin", "old/c.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = left_alone(Form.LABEL_STUDIO, tmp_path, "set", LIMITS)
    assert found == {"notes.txt": 1, "old/": 2}
