"""Inline styles and other attributes that a document keeps."""

import pytest

from portal.facts import canonicalise
from portal.facts.cleaning import safe_style

PIXEL = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("style", "safe"),
    [
        ("color:red;font:10pt 'Times New Roman'", "color:red;font:10pt 'Times New Roman'"),
        ("width:calc(10% - 2px)", "width:calc(10% - 2px)"),
        ("color:red;background:url(/logout)", "color:red"),
        ("BACKGROUND:URL(x);color:red", "color:red"),
        ("background:u\\72l(x);color:red", "color:red"),
        ("background:u/**/rl(x)", None),
        ("background-image:image-set('x' 1x)", None),
        ("width:expression(alert(1))", None),
        ("-moz-binding:url(x)", None),
        ("background:url('x;color:red;y')", "color:red"),
        ("@import 'x'", None),
        ("position:fixed;inset:0;color:red", "inset:0;color:red"),
        ("POSITION : -webkit-sticky !important", None),
        ("position:relative;top:-2px;z-index:99", "position:relative;top:-2px"),
        ("margin:0 -2000px 0 0;margin-top:-10pt", "margin-top:-10pt"),
        ("transform:translate(0,-500px);text-indent:-9999px", None),
        ("table-layout:fixed;margin:100px", "table-layout:fixed;margin:100px"),
        ("user-select:none;pointer-events:none;width:9pt", "width:9pt"),
    ],
)
def test_safe_style_drops_what_could_load_something(style: str, safe: str | None) -> None:
    assert safe_style(style) == safe


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<p onclick="x()" id="a" class="b" title="c" style="color:red">1</p>',
         '<p style="color:red">1</p>'),
        ('<a href="javascript:x()" name="y">1</a>', "1"),
        ('<img src="logo.jpg" alt="Logo" width="9">1', '<img width="9">1'),
        ('<img src="https://example.org/x.png">1', "<img>1"),
        ('<img src="data:image/svg+xml;base64,AAAA">1', "<img>1"),
        ('<img src="javascript:x()">1', "<img>1"),
        (f'<img src="{PIXEL}">1', f'<img src="{PIXEL}">1'),
        ('<input type="checkbox" checked name="x" onfocus="y">1',
         '<input type="checkbox" checked="">1'),
        ('<input type="text" value="typed">1', "1"),
        ('<input value="typed">1', "1"),
        ('<table border=1 bgcolor=red onload=x><tr><td colspan=2 background=x>1</table>',
         '<table border="1" bgcolor="red"><tbody><tr><td colspan="2">1</td></tr></tbody></table>'),
    ],
)  # fmt: skip
def test_canonicalise_keeps_only_harmless_attributes(html: str, kept: str) -> None:
    assert canonicalise(html).html == kept
