"""The pages of `docs/*.md` on the site: HTML with anchors, links between pages, and search.

The files belong to the program and change only with it, so they are read once per process.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from portal.web.markup import new_renderer

FOLDER = Path(settings.BASE_DIR) / "docs"
INDEX = "README"
MOST_FOUND = 30
LONGEST_QUERY = 100
# Characters of a search result before and after the first word found.
AROUND = 90
_BREAKS = ("softbreak", "hardbreak")


@dataclass(frozen=True)
class Section:
    """A heading and the text up to the next one."""

    heading: str
    anchor: str
    level: int
    text: str


@dataclass(frozen=True)
class Page:
    slug: str
    title: str
    html: SafeString
    sections: tuple[Section, ...]

    @property
    def contents(self) -> list[Section]:
        return [section for section in self.sections if section.level == 2]

    @property
    def anchors(self) -> frozenset[str]:
        return frozenset(section.anchor for section in self.sections)


@dataclass(frozen=True)
class Found:
    page: Page
    section: Section
    extract: str


@cache
def slugs() -> frozenset[str]:
    """Every page, as its path below `docs/` without the suffix."""
    files = FOLDER.rglob("*.md")
    return frozenset(file.relative_to(FOLDER).with_suffix("").as_posix() for file in files)


@cache
def images() -> frozenset[str]:
    return frozenset(file.name for file in (FOLDER / "images").glob("*.png"))


@cache
def page(slug: str) -> Page:
    """Raises KeyError for a page that does not exist."""
    if slug not in slugs():
        raise KeyError(slug)
    renderer = _renderer()
    tokens = renderer.parse((FOLDER / f"{slug}.md").read_text(encoding="utf-8"))
    _give_anchors(tokens)
    sections = tuple(_sections(tokens))
    _point_to_site(tokens, slug)
    # The title is the heading of the page on the site.
    if tokens and tokens[0].tag == "h1":
        tokens = tokens[3:]
    # Safe: the renderer escapes all text, and the files are our own.
    html = SafeString(renderer.renderer.render(tokens, renderer.options, {}))
    return Page(slug, sections[0].heading if sections else slug, html, sections)


@cache
def _renderer() -> MarkdownIt:
    return new_renderer().enable("image")


def anchor_of(heading: str) -> str:
    """As GitHub makes them, so that a link works in both places.

    >>> anchor_of("Hidden gold: who may see it?")
    'hidden-gold-who-may-see-it'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _give_anchors(tokens: list[Token]) -> None:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor_of(_text(inline)))


def _sections(tokens: list[Token]) -> Iterator[Section]:
    """In order. Text before the first heading belongs to no section."""
    heading, level, lines = "", 0, list[str]()
    in_heading = False
    for token in tokens:
        if token.type == "heading_open":
            if heading:
                yield Section(heading, anchor_of(heading), level, " ".join(lines))
            level, lines, in_heading = int(token.tag[1:]), [], True
        elif token.type == "inline" and in_heading:
            heading, in_heading = _text(token), False
        elif token.type in ("inline", "fence", "code_block"):
            lines.append(_text(token))
    if heading:
        yield Section(heading, anchor_of(heading), level, " ".join(lines))


def _text(token: Token) -> str:
    parts = token.children if token.children is not None else [token]
    words = (" " if part.type in _BREAKS else part.content for part in parts)
    return " ".join("".join(words).split())


def _point_to_site(tokens: list[Token], slug: str) -> None:
    """Links between files become links between pages; a link to code becomes plain text."""
    here = posixpath.dirname(slug)
    for token in tokens:
        is_cut = False
        for part in token.children or []:
            if part.type == "image":
                part.attrSet("src", reverse("docs:image", args=[Path(str(part.attrs["src"])).name]))
            elif part.type == "link_open":
                href = site_url(str(part.attrs["href"]), here)
                is_cut = href is None
                if href is not None:
                    part.attrSet("href", href)
            if is_cut and part.type in ("link_open", "link_close"):
                is_cut = part.type == "link_open"
                part.type, part.tag, part.nesting, part.content = "text", "", 0, ""


def site_url(href: str, folder: str) -> str | None:
    """The URL on this site of a link in a file in `folder`; None for a file that is no page."""
    if re.match(r"[a-z]+:|#|/", href):
        return href
    file, _, anchor = href.partition("#")
    target = posixpath.normpath(posixpath.join(folder, file)).removesuffix(".md")
    if target not in slugs():
        return None
    return page_url(target, anchor)


def page_url(slug: str, anchor: str = "") -> str:
    url = reverse("docs:index") if slug == INDEX else reverse("docs:page", args=[slug])
    return f"{url}#{anchor}" if anchor else url


def find(query: str) -> list[Found]:
    """Sections that contain every word of the query; those with a word in the heading first."""
    words = query.casefold().split()
    if not words:
        return []
    hits = []
    for slug in sorted(slugs()):
        for section in page(slug).sections:
            heading, text = section.heading.casefold(), section.text.casefold()
            if all(word in heading or word in text for word in words):
                in_heading = sum(word in heading for word in words)
                extract = _extract(section.text, words)
                hits.append((-in_heading, Found(page(slug), section, extract)))
    return [found for _, found in sorted(hits, key=lambda hit: hit[0])[:MOST_FOUND]]


def _extract(text: str, words: list[str]) -> str:
    folded = text.casefold()
    first = min((at for at in map(folded.find, words) if at >= 0), default=0)
    # From the start of a word to the end of one.
    start = text.rfind(" ", 0, max(0, first - AROUND)) + 1
    end = text.find(" ", first + AROUND)
    before = "… " if start else ""
    return f"{before}{text[start:end]} …" if end >= 0 else f"{before}{text[start:]}"


@require_safe
def index_view(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")[:LONGEST_QUERY]
    context = {"page": page(INDEX), "query": query, "found": find(query)}
    return render(request, "docs/index.html", context)


@require_safe
def page_view(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        shown = page(slug)
    except KeyError:
        raise Http404(f"There is no documentation page {slug!r}.") from None
    return render(request, "docs/page.html", {"page": shown})


@cache_control(max_age=3600, public=True)
@require_safe
def image_view(_request: HttpRequest, name: str) -> FileResponse:
    if name not in images():
        raise Http404(f"There is no image {name!r} in the documentation.")
    return FileResponse((FOLDER / "images" / name).open("rb"), content_type="image/png")


urlpatterns = [
    path("", index_view, name="index"),
    path("images/<str:name>", image_view, name="image"),
    path("<path:slug>/", page_view, name="page"),
]
