"""CDATA, declared entities and prefixes of XHTML are written as HTML before a page is read."""

import pytest

from portal.facts import RefusedHtml, canonicalise, read_tags
from portal.facts.xbrl import XbrlResources, read_xbrl_details
from portal.facts.xhtml import as_html

XML = '<?xml version="1.0"?>'
ROOT = '<html xmlns="http://www.w3.org/1999/xhtml"><body>'


def read(page: str) -> str:
    return canonicalise(page).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>Sales <![CDATA[1,234 & <b>more</b>]]> end</p>", "Sales 1,234 & <b>more</b> end"),
        ("<p>a<![CDATA[]]>b<![CDATA[<]]]]><![CDATA[>]]></p>", "ab<]]>"),
        ("<p>a<!-- <![CDATA[no]]> --> b</p>", "a b"),
        ("<p><![CDATA[&amp; &co;]]></p>", "&amp; &co;"),
        ("<style>/*<![CDATA[*/ p>b{} /*]]>*/</style><p>7</p>", "7"),
        ("<p>a<?format if 5 > 4?>b</p>", "ab"),
        ('<h:p xmlns:h="http://www.w3.org/1999/xhtml">5<h:br/>6</h:p>', "56"),
        ("<p>&undeclared; &nbsp;&lt;</p>", "&undeclared; \xa0<"),
    ],
)
def test_text_of_xhtml_is_kept(body: str, text: str) -> None:
    assert read(f"{XML}{ROOT}{body}</body></html>") == text


def test_elements_with_a_prefix_are_read() -> None:
    page = (
        f'{XML}<x:html xmlns:x="http://www.w3.org/1999/xhtml" xmlns:q="urn:q"><x:body><x:p>Net'
        "</x:p><x:table><x:tr><x:td/><x:td><q:b>5</q:b></x:td></x:tr></x:table></x:body></x:html>"
    )
    assert canonicalise(page).html == (
        "<p>Net</p><table><tbody><tr><td></td><td>5</td></tr></tbody></table>"
    )


SUBSET = """<!DOCTYPE html PUBLIC "-//x//DTD" "x.dtd" [
<!-- it's ]> a comment --><!ELEMENT q (#PCDATA)>
<!ENTITY co "Acme &#38;amp; &year; Ltd"><!ENTITY co "other"><!ENTITY year '2024'>
<!ENTITY lt "&#38;#60;"><!ENTITY % part "x"><!ENTITY file SYSTEM "file:///etc/passwd"> ]>"""


def test_entities_of_the_document_are_read_and_its_declarations_are_no_text() -> None:
    page = f'{XML}{SUBSET}{ROOT}<p title="&co;">&co; &lt;1 &file;</p></body></html>'
    assert read(page) == "Acme & 2024 Ltd <1 &file;"


def _doubling(value: str) -> str:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 16))
    return f'<!DOCTYPE html [<!ENTITY e0 "{value}">{declared}]>'


@pytest.mark.parametrize(
    ("subset", "code"),
    [
        (_doubling("x"), "too_large"),
        ('<!DOCTYPE html [<!ENTITY e15 "&e15;">]>', "too_deep"),
        ('<!DOCTYPE html [<!ENTITY a "&e15;&e15;"><!ENTITY e15 "&a;&a;">]>', "too_deep"),
    ],
)
def test_entities_without_bounds_are_refused(subset: str, code: str) -> None:
    with pytest.raises(RefusedHtml) as refused:
        read(f"{XML}{subset}{ROOT}<p>&e15;</p></body></html>")
    assert refused.value.code == code


def test_unclosed_section_is_refused_with_its_line() -> None:
    with pytest.raises(RefusedHtml, match="a CDATA section opened on line 2 is never closed"):
        as_html(f"{XML}{ROOT}<p>\n<![CDATA[1,200</p>")


def test_many_references_to_a_long_entity_are_refused() -> None:
    subset = f'<!DOCTYPE html [<!ENTITY e "{"x" * 20_000}">]>'
    with pytest.raises(RefusedHtml, match="5,000,000 characters"):
        as_html(f"{XML}{subset}{'&e;' * 300}")


@pytest.mark.parametrize(
    "page",
    [
        "<p>a<![CDATA[b]]>c</p>",
        '<!DOCTYPE html [<!ENTITY co "x">]><p>&co;</p>',
        f"{XML}{ROOT}<p>a &amp; b</p></body></html>",
    ],
)
def test_page_without_xml_is_unchanged(page: str) -> None:
    assert as_html(page) == page


def test_written_page_stays_as_it_is() -> None:
    written = as_html(f"{XML}{SUBSET}{ROOT}<p><![CDATA[<![CDATA[1]]>&co;<?x?></p></body></html>")
    assert as_html(written) == written


def test_facts_of_xhtml_are_located() -> None:
    page = (
        f'{XML}<x:html xmlns:x="http://www.w3.org/1999/xhtml"><x:body><x:p>Net <![CDATA[<b>]]>'
        '<ix:nonFraction name="a:N"><![CDATA[1,200]]></ix:nonFraction></x:p></x:body></x:html>'
    )
    canonical = canonicalise(page)
    (detail,) = read_xbrl_details(page, canonical, XbrlResources()).details
    assert canonical.text[detail.fact.start : detail.fact.end] == "1,200"
    tagged = read_tags(page.replace("ix:nonFraction", "Number"), ["Number"])
    assert [(span.start, span.end) for span in tagged.spans] == [(7, 12)]
