"""Markdown of descriptions, guidelines and notes."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from django import template
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

register = template.Library()


def _open_link(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """Add rel attributes to links of users, against spam and referrers."""
    tokens[index].attrSet("rel", "nofollow noreferrer")
    return self.renderToken(tokens, index, options, env)


def _open_table(*_: object) -> str:
    return '<div class="table-frame"><table class="data fit">\n'


def _close_table(*_: object) -> str:
    return "</table></div>\n"


def _open_cell(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """Drop the style attribute for cell alignment, which the content security policy blocks."""
    if tokens[index].attrs.pop("style", "") == "text-align:right":
        tokens[index].attrSet("class", "num")
    return self.renderToken(tokens, index, options, env)


def new_renderer() -> MarkdownIt:
    """CommonMark with tables. HTML in the source is shown as text, images are left out."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    renderer.add_render_rule("table_open", _open_table)
    renderer.add_render_rule("table_close", _close_table)
    renderer.add_render_rule("th_open", _open_cell)
    renderer.add_render_rule("td_open", _open_cell)
    return renderer


@cache
def _renderer() -> MarkdownIt:
    """For text that users write. An image would make every reader's browser call a server that
    its author chose."""
    renderer = new_renderer()
    renderer.add_render_rule("link_open", _open_link)
    return renderer


@register.filter
@lru_cache(maxsize=64)
def markdown(text: str) -> SafeString:
    """The text as HTML. Cached, because guidelines are shown with every page."""
    # Safe: the renderer escapes the source.
    return SafeString(_renderer().render(text))
