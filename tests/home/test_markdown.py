"""Markdown written by users: shown as meant, and harmless."""

import pytest
from django.template import Context, Template

from portal.web.markup import markdown


def test_prose_becomes_html() -> None:
    assert markdown("## Rules\n\nMark **every** number.") == (
        "<h2>Rules</h2>\n<p>Mark <strong>every</strong> number.</p>\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        'Hello <img src=x onerror="alert(1)">',
        "<div\nonclick=alert(1)>",
        "`<script>`",
        "```\n<script>\n```",
    ],
)
def test_html_in_the_source_is_shown_as_text(source: str) -> None:
    html = markdown(source)
    assert "&lt;" in html
    for tag in ("<script", "<img", "<div"):
        assert tag not in html


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "vbscript:x", "data:text/html,<b>"]
)
def test_links_that_run_something_stay_text(target: str) -> None:
    assert "<a" not in markdown(f"[click]({target})")


def test_links_are_not_followed_and_say_nothing() -> None:
    assert 'href="https://example.org/" rel="nofollow noreferrer"' in markdown(
        "[paper](https://example.org/)"
    )


def test_images_are_left_out() -> None:
    assert "<img" not in markdown("![seen](https://elsewhere.example/pixel.png)")


def test_tables_have_the_site_look_and_no_inline_style() -> None:
    html = markdown("| label | n |\n|:--|--:|\n| Number | 3 |\n")
    assert '<div class="table-frame"><table class="data fit">' in html
    assert html.rstrip().endswith("</table></div>")
    assert '<th class="num">n</th>' in html
    assert '<td class="num">3</td>' in html
    assert "<td>Number</td>" in html
    assert "style=" not in html


def test_empty_table_headings_are_no_headings() -> None:
    html = markdown("| | n |\n|--|--:|\n| Number | 3 |\n")
    assert "<th></th>" not in html
    assert "<td></td>" in html
    assert '<th class="num">n</th>' in html


def test_a_table_without_headings_has_no_head() -> None:
    html = markdown("| | |\n|--|--|\n| Number | 3 |\n\nText.")
    assert "<thead>" not in html
    assert "<td>Number</td>" in html
    assert "<p>Text.</p>" in html


@pytest.mark.parametrize("source", ["```\nmake run\n```", "```json\n{}\n```", "    make run"])
def test_code_can_be_scrolled_with_the_keyboard(source: str) -> None:
    assert '<pre tabindex="0"><code' in markdown(source)


def test_the_filter_is_not_escaped_again() -> None:
    template = Template("{% load markdown %}{{ text|markdown }}")
    assert template.render(Context({"text": "*a* & b"})) == "<p><em>a</em> &amp; b</p>\n"
