"""From bytes to text: marks, declarations, and files that are no text."""

import codecs
import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import RefusedHtml, decode_html

META = '<meta charset="{}">'
HTTP = '<meta http-equiv="Content-Type" content="text/html; charset={}">'
XML = "<?xml version='1.0' encoding='{}'?>"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve €".encode(), "naïve €"),
        (codecs.BOM_UTF8 + "é".encode(), "é"),
        ("é\0"[:1].encode("utf-16"), "é"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), "é"),
        ("é".encode("utf-32"), "é"),
        (META.format("iso-8859-1").encode() + b"\x93x\x94", META.format("iso-8859-1") + "“x”"),
        (HTTP.format("windows-1252").encode() + b"\x80", HTTP.format("windows-1252") + "€"),
        (XML.format("ASCII").encode() + b"caf\xe9", XML.format("ASCII") + "café"),
        # The declaration is wrong: the bytes are UTF-8.
        (META.format("windows-1252").encode() + "€".encode(), META.format("windows-1252") + "€"),
        (META.format("utf-16").encode() + "€".encode(), META.format("utf-16") + "€"),
        (META.format("gb2312").encode() + "元年".encode("gbk"), META.format("gb2312") + "元年"),
        (META.format("Shift_JIS").encode() + "円".encode("sjis"), META.format("Shift_JIS") + "円"),
        (
            META.format("iso-2022-jp").encode() + "円".encode("iso-2022-jp"),
            META.format("iso-2022-jp") + "円",
        ),
        (META.format("klingon").encode() + b"ascii", META.format("klingon") + "ascii"),
    ],
)
def test_decode_html_reads(data: bytes, text: str) -> None:
    assert decode_html(data) == text


@pytest.mark.parametrize(
    ("data", "code", "reason"),
    [
        (b"", "empty", "empty"),
        (b" \r\n", "empty", "empty"),
        (b"\x89PNG\r\n\x1a\n", "binary", "PNG"),
        (b"PK\x03\x04....", "binary", "ZIP"),
        (b"%PDF-1.7", "binary", "PDF"),
        (b"\xff\xd8\xff\xe0", "binary", "JPEG"),
        (b"<p>a\0b</p>", "binary", "byte 4 is NUL"),
        (b"<p>caf\xe9</p>", "encoding", "byte 6 is not valid UTF-8"),
        (b"<meta charset=utf-8>\xff", "encoding", "byte 20"),
        (b"<meta charset=klingon>\xff", "encoding", "klingon"),
        (b"<meta charset=rot13>\xff", "encoding", "rot13"),
        (b"<meta charset=iso-8859-99>\xff", "encoding", "iso-8859-99"),
        (b"<meta charset=shift_jis>\xff\xff", "encoding", "not valid SHIFT_JIS"),
        (codecs.BOM_UTF8 + b"\xff", "encoding", "byte 3 is not valid UTF-8"),
        (codecs.BOM_UTF16_LE + b"a", "encoding", "UTF-16"),
        (b"<meta charset=latin1>\x81", "encoding", "not valid CP1252"),
    ],
)
def test_decode_html_refuses_with_a_reason(data: bytes, code: str, reason: str) -> None:
    with pytest.raises(RefusedHtml, match=reason) as caught:
        decode_html(data)
    assert caught.value.code == code


@given(st.binary(max_size=80) | st.binary(max_size=20).map(lambda b: b"<meta charset=sjis>" + b))
@settings(max_examples=150, deadline=None)
def test_decode_html_raises_nothing_else(data: bytes) -> None:
    with contextlib.suppress(RefusedHtml):
        assert isinstance(decode_html(data), str)
