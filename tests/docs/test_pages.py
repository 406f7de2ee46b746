"""The documentation as pages of the site."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from portal.home import docs as pages
from portal.home.navigation import HELP

MARKDOWN = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class Links(HTMLParser):
    """The URLs of links and images, and the ids of elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if url := given.get("href") or given.get("src"):
            self.urls.append(url)
        if name := given.get("id"):
            self.ids.append(name)


def test_every_markdown_link_leads_to_a_file() -> None:
    missing = []
    for slug in sorted(pages.slugs()):
        file = pages.FOLDER / f"{slug}.md"
        for link in MARKDOWN.findall(file.read_text(encoding="utf-8")):
            path = link.partition("#")[0]
            if path and not re.match(r"[a-z]+:", path) and not (file.parent / path).exists():
                missing.append(f"{slug}: {link}")
    assert missing == []


def test_every_link_between_pages_has_its_page_and_anchor(client: Client) -> None:
    broken = []
    for slug in sorted(pages.slugs()):
        for url in Links(pages.page(slug).html).urls:
            path, _, anchor = url.partition("#")
            if path.startswith("/docs/images/"):
                broken += [] if path.rpartition("/")[2] in pages.images() else [f"{slug}: {url}"]
            elif path.startswith("/docs/") or not path:
                target = path.removeprefix("/docs/").rstrip("/") if path else slug
                found = pages.page(target or pages.INDEX)
                broken += [f"{slug}: {url}"] if anchor and anchor not in found.anchors else []
            elif not re.match(r"[a-z]+:", path):
                broken.append(f"{slug}: {url}")
    assert broken == []


def test_ids_of_a_page_are_unique() -> None:
    for slug in sorted(pages.slugs()):
        ids = Links(pages.page(slug).html).ids
        assert len(ids) == len(set(ids)), slug


@pytest.mark.parametrize("target", sorted(set(HELP.values())))
def test_every_help_link_has_its_page_and_anchor(target: str) -> None:
    slug, _, anchor = target.partition("#")
    found = pages.page(slug)
    assert not anchor or anchor in found.anchors


@pytest.mark.django_db
def test_every_page_is_served(client: Client) -> None:
    for slug in sorted(pages.slugs() - {pages.INDEX}):
        answer = client.get(f"/docs/{slug}/")
        assert answer.status_code == 200, slug
        assert pages.page(slug).title in answer.content.decode().replace("&#x27;", "'")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["nowhere", "../README", "decisions", "images/nowhere.png"])
def test_unknown_pages_are_not_found(client: Client, path: str) -> None:
    slash = "" if path.endswith(".png") else "/"
    assert client.get(f"/docs/{path}{slash}").status_code == 404


@pytest.mark.django_db
def test_images_are_served(client: Client) -> None:
    for name in pages.images():
        answer: Any = client.get(f"/docs/images/{name}")
        assert b"".join(answer.streaming_content).startswith(b"\x89PNG")


@pytest.mark.django_db
def test_index_searches_headings_and_text(client: Client) -> None:
    everything = client.get("/docs/").content.decode()
    assert pages.page(pages.INDEX).title in everything
    found = client.get("/docs/?q=adjudication").content.decode()
    assert "/docs/quality-workflow/#" in found
    none = client.get("/docs/", {"q": "<b>xyzzy</b>"}).content.decode()
    assert "No results for “&lt;b&gt;xyzzy&lt;/b&gt;”" in none


def test_search_needs_every_word_and_ranks_headings_first() -> None:
    found = pages.find("hidden gold")
    assert 0 < len(found) <= pages.MOST_FOUND
    for each in found:
        text = f"{each.section.heading} {each.section.text}".casefold()
        assert "hidden" in text
        assert "gold" in text
    hits = [sum(w in each.section.heading.casefold() for w in ("hidden", "gold")) for each in found]
    assert hits == sorted(hits, reverse=True)
    assert pages.find("  ") == []


@pytest.mark.parametrize(
    ("href", "folder", "expected"),
    [
        ("https://example.org/a", "", "https://example.org/a"),
        ("#ranks", "", "#ranks"),
        ("leaderboards.md#ranks", "", "/docs/leaderboards/#ranks"),
        ("../leaderboards.md", "decisions", "/docs/leaderboards/"),
        ("decisions/023-no-oracles.md", "", "/docs/decisions/023-no-oracles/"),
        ("README.md", "", "/docs/"),
        ("../README.md", "", None),
        ("../portal/home/docs.py", "", None),
    ],
)
def test_links_between_files_become_links_between_pages(
    href: str, folder: str, expected: str | None
) -> None:
    assert pages.site_url(href, folder) == expected


def test_a_link_to_code_becomes_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.md").write_text("# One\n\nSee [the code](../a.py) and [two](two.md).\n")
    (tmp_path / "two.md").write_text("# Two\n\n<script>alert(1)</script>\n")
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    for cached in (pages.slugs, pages.page):
        cached.cache_clear()
    try:
        html = pages.page("one").html
        assert 'See the code and <a href="/docs/two/">two</a>.' in html
        assert "<script>" not in pages.page("two").html
    finally:
        for cached in (pages.slugs, pages.page):
            cached.cache_clear()
