"""JSON arrays are read item by item, in pieces of any size."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from portal.datasets.imports import tables as json_arrays
from portal.datasets.imports.tables import json_items
from portal.files.archives import ArchiveFault, ArchiveLimits
from tests.many import drawn

LIMITS = ArchiveLimits()
ITEMS = st.lists(
    st.dictionaries(st.text(max_size=4), st.text(max_size=9) | st.integers() | st.none())
)


def items(data: bytes, limits: ArchiveLimits = LIMITS) -> list[Any]:
    return list(json_items(io.BytesIO(data), "a.json", limits))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads files in pieces of three characters."""
    monkeypatch.setattr(json_arrays, "MEGABYTE", 3)


@drawn(wanted=ITEMS, indent=st.sampled_from([None, 0, 3]))
def test_items_come_back(wanted: list[Any], indent: int | None) -> None:
    assert items(json.dumps(wanted, indent=indent, ensure_ascii=False).encode()) == wanted


@pytest.mark.usefixtures("small_pieces")
def test_items_may_be_larger_than_a_piece() -> None:
    wanted = [{"text": "ab\U0001f4b6" * 9}, {}, {"b": [1, {"c": "]"}]}]
    assert items(f" \n{json.dumps(wanted)}\n".encode()) == wanted
    assert items(b"\xef\xbb\xbf" + json.dumps(wanted[0]).encode()) == wanted[:1]
    assert items(b"[ ]") == []


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "item 1: not JSON: it must begin with a list or an object"),
        (b"[{}", "item 2: not JSON: a comma or the end of the list is missing"),
        (b"[{},]", "item 2: not JSON: Expecting value"),
        (b"[{} {}]", "item 2: not JSON: a comma or the end of the list is missing"),
        (b"[{}] []", "item 2: not JSON: there is text after the end"),
        (b'[{"a": ', "item 1: not JSON: Expecting value"),
        (b"[" + b"[" * 100_000, "item 1: not JSON: "),
    ],
)
def test_what_is_no_json_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ArchiveFault) as fault:
        items(data)
    assert str(fault.value).startswith(f"a.json: {reason}")


@pytest.mark.usefixtures("small_pieces")
def test_an_item_larger_than_allowed_is_refused() -> None:
    data = json.dumps([{}, {"text": "x" * 500}]).encode()
    assert len(items(data)) == 2
    with pytest.raises(ArchiveFault, match="item 2 is larger than allowed"):
        items(data, replace(LIMITS, member=99))
