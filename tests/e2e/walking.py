"""Walks a site as a visitor does: from the first page along every link that is shown.

Plain requests follow the links of a few examples of each URL pattern. The browser opens one example
of each page, 390 px wide, and looks for what only a browser can see. Visitors who share what they
have `seen` open a page again only where it is made of other parts.
"""

import time
from collections import Counter, deque
from typing import Any
from urllib.parse import unquote, urldefrag, urlencode, urljoin, urlsplit

import lxml.html
from django.urls import Resolver404, resolve
from playwright.sync_api import (
    APIResponse,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
)

# Of each pattern: the pages of different boards and datasets do not have the same links.
EXAMPLES = 6
_SETTLES_WITHIN = 15

# What the main region says besides the way to the page and its heading.
_BODY = """() => {
  const main = document.querySelector("main")?.cloneNode(true);
  for (const each of main?.querySelectorAll(".breadcrumbs, h1") ?? []) each.remove();
  return main?.textContent.trim() ?? "";
}"""
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_TELLING = ("class", "type", "name", "hidden", "role")
_LINKS = '[...document.links].filter((a) => !a.closest("[hidden]")).map((a) => a.href)'

Parts = frozenset[tuple[str, ...]]
# Names of URL patterns, with what their pages were made of.
Seen = set[tuple[str, Parts]]


class Walk:
    """What one visitor met: the names of URL patterns, and faults in words."""

    def __init__(
        self, who: str, context: BrowserContext, base: str, seen: Seen | None = None
    ) -> None:
        self.met: set[str] = set()
        self.faults: list[str] = []
        self._who, self._base, self._context = who, base, context
        self._queue: deque[tuple[str, str]] = deque()
        self._queued: set[str] = set()
        self._examples: Counter[str] = Counter()
        self._opened: set[str] = set()
        self._seen = set() if seen is None else seen
        self._page = self._watched_page()
        self._at = ""
        self._under_way = 0

    def take(self, *starts: str) -> "Walk":
        """Follows all links, beginning at these pages."""
        for start in starts:
            self._follow(start, start)
        while self._queue:
            self._visit(*self._queue.popleft())
        self._page.close()
        return self

    def _visit(self, address: str, shown_at: str) -> None:
        name = pattern_of(address)
        if name is None:
            self.faults.append(f"{self._who}: {shown_at} links to {address}, which does not exist")
            return
        if self._has_examples(name, address):
            return
        answer = self._context.request.get(urljoin(self._base, address))
        self.met.add(name)
        if answer.status >= 400:
            found = f"{shown_at} links to {address}, which answers {answer.status}"
            self.faults.append(f"{self._who}: {found}")
        elif _is_page(answer):
            # After a redirect it is another page that is shown.
            self._read(urldefrag(answer.url.removeprefix(self._base)).url, answer.text())

    def _has_examples(self, name: str, address: str) -> bool:
        """Whether enough pages of the pattern are known. Pages of one dataset, board or submission
        count once: those of another are more likely to have other links."""
        kwargs = list(resolve(_path(address)).kwargs.values())
        whose = f"{name} {kwargs[0]}" if len(kwargs) > 1 else name
        if self._examples[name] >= EXAMPLES or (whose != name and self._examples[whose]):
            return True
        self._examples.update({name, whose})
        return False

    def _read(self, address: str, html: str) -> None:
        for link in _links_of(html):
            self._follow(link, address)
        name = pattern_of(address)
        if name and name not in self._opened:
            self._opened.add(name)
            self.met.add(name)
            made_of = (name, parts_of(html))
            if made_of not in self._seen:
                self._seen.add(made_of)
                self._open(address)

    def _open(self, address: str) -> None:
        self._at, self._under_way = address, 0
        self._page.goto(self._base + address)
        until = time.monotonic() + _SETTLES_WITHIN
        while self._under_way > 0 and time.monotonic() < until:
            self._page.wait_for_timeout(20)
        if not self._page.evaluate(_BODY):
            self._fault("the main region is empty")
        if (overflow := self._page.evaluate(_OVERFLOW)) > 0:
            self._fault(f"overflows by {overflow} px")
        for link in self._page.evaluate(_LINKS):
            self._follow(link, address)

    def _follow(self, link: str, shown_at: str) -> None:
        address = urldefrag(urljoin(self._base + shown_at, link)).url
        if address.startswith(f"{self._base}/") and address not in self._queued:
            self._queued.add(address)
            self._queue.append((address.removeprefix(self._base), shown_at))

    def _watched_page(self) -> Page:
        page = self._context.new_page()
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self._fault(str(error)))
        page.on("request", lambda _: self._count(1))
        page.on("requestfinished", lambda _: self._count(-1))
        page.on("requestfailed", self._note_failure)
        page.on("response", self._note_response)
        return page

    def _count(self, change: int) -> None:
        self._under_way += change

    def _fault(self, what: str) -> None:
        self.faults.append(f"{self._who}: {self._at}: {what}")

    def _note_console(self, message: ConsoleMessage) -> None:
        # What could not be loaded is noted with its URL and status.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._fault(message.text)

    def _note_failure(self, request: Request) -> None:
        self._count(-1)
        if request.failure != "net::ERR_ABORTED":
            self._fault(f"{request.url} failed: {request.failure}")

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self._fault(f"{response.url} answers {response.status}")
        if response.url.startswith(self._base):
            name = pattern_of(response.url.removeprefix(self._base))
            self.met |= {name} if name else set()


def pattern_of(address: str) -> str | None:
    """The name of the URL pattern of an address, None where there is none."""
    try:
        return resolve(_path(address)).view_name
    except Resolver404:
        return None


def parts_of(html: str) -> Parts:
    """What the main region is made of: its elements and their classes, however many of each."""
    found: Any = lxml.html.document_fromstring(html).xpath("//main//*")
    return frozenset((each.tag, *(each.get(name, "") for name in _TELLING)) for each in found)


def _path(address: str) -> str:
    return unquote(urlsplit(address).path)


def _is_page(answer: APIResponse) -> bool:
    """Whether it is HTML to be shown by itself, no file and no frame of another page."""
    headers = answer.headers
    return (
        headers.get("content-type", "").startswith("text/html")
        and not headers.get("content-disposition", "").startswith("attachment")
        and "default-src 'none'" not in headers.get("content-security-policy", "")
    )


def _links_of(html: str) -> list[str]:
    """Links that are shown, and the addresses of forms that ask for a page."""
    tree: Any = lxml.html.document_fromstring(html)
    shown = "not(ancestor-or-self::*[@hidden])"
    links = [str(link) for link in tree.xpath(f"//a[{shown}]/@href | //iframe[{shown}]/@src")]
    for form in tree.forms:
        if (form.method or "GET").upper() == "GET":
            action = (form.get("action") or "").partition("?")[0]
            links.append(f"{action}?{urlencode(form.form_values())}")
    return links
