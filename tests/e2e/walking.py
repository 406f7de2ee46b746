"""Follows every visible link of a site, like a visitor.

Plain requests follow the links of a few examples of each URL pattern. The browser opens one example
of each page, 390 px wide, and checks what only a browser can see. Visitors that share `seen` open a
page again only if its elements differ.
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

# Per pattern: pages of different boards and datasets have different links.
EXAMPLES = 6
_SETTLES_WITHIN = 15
_DRAWN_WITHIN = 30

# The text of the main region without breadcrumbs and heading.
_BODY = """() => {
  const main = document.querySelector("main")?.cloneNode(true);
  for (const each of main?.querySelectorAll(".breadcrumbs, h1") ?? []) each.remove();
  return main?.textContent.trim() ?? "";
}"""
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_COMPARED = ("class", "type", "name", "hidden", "role")
_LINKS = '[...document.links].filter((a) => !a.closest("[hidden]")).map((a) => a.href)'

Parts = frozenset[tuple[str, ...]]
# Names of URL patterns, with the elements of their pages.
Seen = set[tuple[str, Parts]]


class Walk:
    """One visitor's walk: `met` has the names of URL patterns, `faults` has error messages."""

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
        self._pending = 0

    def take(self, *starts: str) -> "Walk":
        """Follows all links, starting at these pages."""
        for start in starts:
            self._follow(start, start)
        while self._queue:
            self._visit(*self._queue.popleft())
        self._page.close()
        return self

    def _visit(self, url: str, shown_at: str) -> None:
        name = pattern_of(url)
        if name is None:
            self.faults.append(f"{self._who}: {shown_at} links to {url}, which does not exist")
            return
        if self._has_examples(name, url):
            return
        answer = self._drawn(urljoin(self._base, url))
        self.met.add(name)
        if answer.status >= 400:
            found = f"{shown_at} links to {url}, which answers {answer.status}"
            self.faults.append(f"{self._who}: {found}")
        elif _is_page(answer):
            # A redirect may lead to another page.
            self._read(urldefrag(answer.url.removeprefix(self._base)).url, answer.text())

    def _drawn(self, url: str) -> APIResponse:
        """The answer to a request; for a chart, the one after a worker has drawn it."""
        end = time.monotonic() + _DRAWN_WITHIN
        while True:
            answer = self._context.request.get(url)
            if answer.status != 503 or "retry-after" not in answer.headers:
                return answer
            if time.monotonic() > end:
                return answer
            time.sleep(0.2)

    def _has_examples(self, name: str, url: str) -> bool:
        """Returns whether enough pages of the pattern were visited.

        Pages of one dataset, board or submission count once: those of another one are more likely
        to have different links.
        """
        kwargs = list(resolve(_path(url)).kwargs.values())
        owner = f"{name} {kwargs[0]}" if len(kwargs) > 1 else name
        if self._examples[name] >= EXAMPLES or (owner != name and self._examples[owner]):
            return True
        self._examples.update({name, owner})
        return False

    def _read(self, url: str, html: str) -> None:
        for link in _links_of(html):
            self._follow(link, url)
        name = pattern_of(url)
        if name and name not in self._opened:
            self._opened.add(name)
            self.met.add(name)
            parts = (name, parts_of(html))
            if parts not in self._seen:
                self._seen.add(parts)
                self._open(url)

    def _open(self, url: str) -> None:
        self._at, self._pending = url, 0
        self._page.goto(self._base + url)
        deadline = time.monotonic() + _SETTLES_WITHIN
        while self._pending > 0 and time.monotonic() < deadline:
            self._page.wait_for_timeout(20)
        if not self._page.evaluate(_BODY):
            self._fault("the main region is empty")
        if (overflow := self._page.evaluate(_OVERFLOW)) > 0:
            self._fault(f"overflows by {overflow} px")
        for link in self._page.evaluate(_LINKS):
            self._follow(link, url)

    def _follow(self, link: str, shown_at: str) -> None:
        url = urldefrag(urljoin(self._base + shown_at, link)).url
        if url.startswith(f"{self._base}/") and url not in self._queued:
            self._queued.add(url)
            self._queue.append((url.removeprefix(self._base), shown_at))

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
        self._pending += change

    def _fault(self, what: str) -> None:
        self.faults.append(f"{self._who}: {self._at}: {what}")

    def _note_console(self, message: ConsoleMessage) -> None:
        # `_note_response` reports failed requests with URL and status.
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


def pattern_of(url: str) -> str | None:
    """Returns the name of the URL pattern, or None if no pattern matches."""
    try:
        return resolve(_path(url)).view_name
    except Resolver404:
        return None


def parts_of(html: str) -> Parts:
    """Returns the different elements of the main region, with the attributes of `_COMPARED`."""
    found: Any = lxml.html.document_fromstring(html).xpath("//main//*")
    return frozenset((each.tag, *(each.get(name, "") for name in _COMPARED)) for each in found)


def _path(url: str) -> str:
    return unquote(urlsplit(url).path)


def _is_page(answer: APIResponse) -> bool:
    """Returns whether the response is an HTML page, not a download or the content of a frame."""
    headers = answer.headers
    return (
        headers.get("content-type", "").startswith("text/html")
        and not headers.get("content-disposition", "").startswith("attachment")
        and "default-src 'none'" not in headers.get("content-security-policy", "")
    )


def _links_of(html: str) -> list[str]:
    """Returns the URLs of visible links and of forms that use GET."""
    tree: Any = lxml.html.document_fromstring(html)
    shown = "not(ancestor-or-self::*[@hidden])"
    links = [str(link) for link in tree.xpath(f"//a[{shown}]/@href | //iframe[{shown}]/@src")]
    for form in tree.forms:
        if (form.method or "GET").upper() == "GET":
            action = (form.get("action") or "").partition("?")[0]
            links.append(f"{action}?{urlencode(form.form_values())}")
    return links
