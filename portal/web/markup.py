"""Shared by templates: Markdown, the heads of tables, and the tabs of a campaign or dataset.

`TEMPLATES` in the settings gives this library of tags the names `markdown` and `tables`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
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


def _open_code(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """Make code focusable, so that the keyboard can scroll long lines."""
    render = self.fence if tokens[index].type == "fence" else self.code_block
    return render(tokens, index, options, env).replace("<pre", '<pre tabindex="0"', 1)


def _without_empty_headings(state: StateCore) -> None:
    """Remove the head of a table without any headings, and make other empty headings plain cells:
    screen readers announce a heading with each cell of its column."""
    kept: list[Token] = []
    head: list[Token] = []
    for token in state.tokens:
        if head or token.type == "thead_open":
            head.append(token)
        else:
            kept.append(token)
        if token.type == "thead_close":
            kept += _named_head(head)
            head = []
    state.tokens = kept


def _named_head(head: list[Token]) -> list[Token]:
    texts = [token for token in head if token.type == "inline"]
    if not any(token.content for token in texts):
        return []
    for opening, text, closing in zip(head, head[1:], head[2:], strict=False):
        if opening.type == "th_open" and not text.content:
            opening.tag = closing.tag = "td"
    return head


def new_renderer() -> MarkdownIt:
    """CommonMark with tables. HTML in the source is shown as text, images are left out."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    renderer.add_render_rule("table_open", _open_table)
    renderer.add_render_rule("table_close", _close_table)
    renderer.add_render_rule("th_open", _open_cell)
    renderer.add_render_rule("td_open", _open_cell)
    renderer.add_render_rule("fence", _open_code)
    renderer.add_render_rule("code_block", _open_code)
    renderer.core.ruler.push("empty_headings", _without_empty_headings)
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


@register.simple_tag
def columns(*names: str) -> SafeString:
    """Return a `<thead>` with one row. `#` before a name aligns the column's figures to the right;
    a name in parentheses is only read by screen readers, for columns of buttons."""
    return format_html(
        "<thead><tr>{}</tr></thead>", format_html_join("", "{}", ((_head(name),) for name in names))
    )


def _head(name: str) -> SafeString:
    if name.startswith("#"):
        return format_html('<th scope="col" class="num">{}</th>', name[1:])
    if name.startswith("("):
        return format_html(
            '<th scope="col"><span class="visually-hidden">{}</span></th>', name.strip("()")
        )
    return format_html('<th scope="col">{}</th>', name)


@dataclass(frozen=True)
class Tab:
    name: str
    label: str
    href: str
    shown: bool = True


@dataclass(frozen=True)
class Group:
    label: str
    tabs: tuple[Tab, ...]

    @property
    def href(self) -> str:
        return self.tabs[0].href


@dataclass(frozen=True)
class Link:
    label: str
    href: str
    current: str
    """The value of aria-current: "page" on the page itself, "true" below it, or empty."""


@dataclass(frozen=True)
class Navigation:
    groups: tuple[Link, ...]
    group: str
    """The name of the current group. It is empty if that group has one page only."""
    pages: tuple[Link, ...]


def navigation(groups: Iterable[Group], current: str, *, below: bool) -> Navigation:
    """The links of both rows; `below` if the page is a subpage of the one that `current` names.

    Hidden tabs and empty groups are left out. A group with one tab is shown as that tab.
    """
    rows, name, pages = [], "", tuple[Link, ...]()
    mark = "true" if below else "page"
    for group in map(_reduced, groups):
        if not group.tabs:
            continue
        is_current = any(tab.name == current for tab in group.tabs)
        has_pages = len(group.tabs) > 1
        rows.append(
            Link(group.label, group.href, ("true" if has_pages else mark) if is_current else "")
        )
        if is_current and has_pages:
            name = group.label
            pages = tuple(
                Link(tab.label, tab.href, mark if tab.name == current else "") for tab in group.tabs
            )
    return Navigation(tuple(rows), name, pages)


def _reduced(group: Group) -> Group:
    tabs = tuple(tab for tab in group.tabs if tab.shown)
    return Group(tabs[0].label if len(tabs) == 1 else group.label, tabs)
