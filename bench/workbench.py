"""The annotation workbench: what its server costs, and how fast it is in the hand.

The method is written down in docs/benchmarks-workbench.md.
"""

import http.client
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.site import BenchSite

PAGES = 200
FACTS = 40
LARGE = (1_140, 4_700)
CLIENTS = 4
ROUNDS = 5
# What has to be there before one can label: the page with its labels, and the document.
OPENED = ("/annotate/{}/", "/annotate/{}/html/")
# What it asks for beside them when it opens (static/js/workbench/main.js).
PARTS = (
    "/api/v1/assignments/{}/facts/",
    "/api/v1/assignments/{}/warnings/",
    "/api/v1/assignments/{}/comments/",
)
# So long a page is left alone after it has loaded, in milliseconds.
UNASKED = 1_500

# Label Studio 1.23.2 from its package on a quiet machine with two cores, and what was asked of us
# beside it: a fifth of its CPU time, five times its saves, a fifth of its first page, half its
# memory, a quarter of its time to open. The last two were measured of nobody else.
BESIDE: dict[str, tuple[str, float, float]] = {
    "open": ("CPU to open a page with 40 labels", 41, 41 / 5),
    "save": ("CPU to save 40 labels", 29, 29 / 5),
    "rate": ("saves per second, 4 clients", 27, 27 * 5),
    "p95": ("95th percentile of those saves", 228, 228),
    "first": ("empty database to first page", 20_000, 20_000 / 5),
    "memory": ("web server's memory, idle", 338, 338 / 2),
    "browser": ("a page with 1,140 labels opens in the browser", 4_600, 4_600 / 4),
}


@dataclass(frozen=True)
class Figure:
    """One line of the table; `less` says whether less is better."""

    what: str
    ours: float
    unit: str
    theirs: float | None
    wanted: float | None
    less: bool = True

    @property
    def is_met(self) -> bool | None:
        """Whether it is as good as was asked for; None when nothing was."""
        if self.wanted is None:
            return None
        return self.ours <= self.wanted if self.less else self.ours >= self.wanted


class Client:
    """One connection that stays open, as a browser's does."""

    def __init__(self, site: BenchSite, made: dict[str, Any]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        self._page_headers = {"Cookie": f"sessionid={made['session']}"}
        self._headers = {
            "Authorization": f"Bearer {made['token']}",
            "Content-Type": "application/json",
        }

    def page(self, path: str) -> str:
        return self._send("GET", path, None, self._page_headers)

    def get(self, path: str) -> Any:
        return json.loads(self._send("GET", path, None, self._headers))

    def put(self, path: str, body: Any) -> Any:
        return json.loads(self._send("PUT", path, json.dumps(body), self._headers))

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> str:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {text[:300]}")
        return text


class Saves:
    """Saves of 40 changed labels to one task after the other, each from the newest revision."""

    _keys = count()

    def __init__(self, client: Client, tasks: Sequence[int]) -> None:
        self._client = client
        self._tasks = tasks
        details = {task: client.get(f"/api/v1/assignments/{task}/") for task in tasks}
        self._revisions = {task: detail["revision"] for task, detail in details.items()}
        self._spans = {task: detail["spans"] for task, detail in details.items()}
        self.milliseconds: list[float] = []

    def run(self) -> None:
        for task in self._tasks:
            key = f"bench-{next(self._keys)}"
            spans = [
                {name: span[name] for name in ("start", "end", "quote")}
                | {"label": "Number", "key": f"{key}-{number}"}
                for number, span in enumerate(self._spans[task])
            ]
            body = {"base_revision": self._revisions[task], "save_key": key, "spans": spans}
            begun = time.perf_counter()
            answer = self._client.put(f"/api/v1/assignments/{task}/spans/", body)
            self.milliseconds.append((time.perf_counter() - begun) * 1000)
            self._revisions[task] = answer["revision"]


def workbench_table() -> Iterator[str]:
    """The lines of the section, once all is measured."""
    yield ""
    yield "## Annotation workbench"
    yield ""
    yield "Beside Label Studio 1.23.2 from its package, measured once on a quiet machine with two"
    yield "cores. How: [benchmarks-workbench.md](benchmarks-workbench.md)."
    yield ""
    yield "| what | ours | Label Studio | wanted | met |"
    yield "|---|---:|---:|---:|---|"
    for row in figures():
        theirs = f"{row.theirs:,.0f} {row.unit}" if row.theirs is not None else "–"
        sign = "≤" if row.less else "≥"
        wanted = f"{sign} {row.wanted:,.1f} {row.unit}" if row.wanted is not None else "–"
        met = {True: "yes", False: "**no**", None: "–"}[row.is_met]
        yield f"| {row.what} | {row.ours:,.1f} {row.unit} | {theirs} | {wanted} | {met} |"


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        site = BenchSite(Path(folder))
        try:
            yield _beside("first", site.first_page() * 1000, "ms")
            time.sleep(3)
            yield _beside("memory", site.web_memory(), "MB")
            made = site.run(f"make({PAGES}, {FACTS}, {LARGE})")
            yield from _server(site, made)
            yield from _browser(site, made)
        finally:
            site.stop()


def _server(site: BenchSite, made: dict[str, Any]) -> Iterator[Figure]:
    client = Client(site, made)
    tasks = made["pages"]
    addresses = [part.format(task) for task in tasks for part in OPENED]
    client.page(addresses[0])
    opened = _cpu(site, len(tasks), lambda: [client.page(a) for a in addresses])
    yield _beside("open", opened, "ms")
    # Nobody saves a page that was not opened, and what was asked for then need not be read again.
    parts = [part.format(task) for task in tasks for part in PARTS]
    rest = _cpu(site, len(tasks), lambda: [client.page(part) for part in parts])
    what = "CPU for all that the browser asks for to open it"
    yield Figure(what, opened + rest, "ms", None, None)
    saves = Saves(client, tasks)
    yield _beside("save", _cpu(site, len(tasks), saves.run), "ms")
    rate, milliseconds = _together(site, made)
    yield _beside("rate", rate, "/s", less=False)
    yield _beside("p95", statistics.quantiles(milliseconds, n=20)[-1], "ms")


def _cpu(site: BenchSite, times: int, work: Any) -> float:
    """Milliseconds of the server's CPU time for each of so many requests."""
    before = site.cpu_seconds()
    work()
    return (site.cpu_seconds() - before) * 1000 / times


def _together(site: BenchSite, made: dict[str, Any]) -> tuple[float, list[float]]:
    """Saves per second of clients that each save to tasks of their own, and how long each took."""
    shares = [made["pages"][number::CLIENTS] for number in range(CLIENTS)]
    parts = [Saves(Client(site, made), share) for share in shares]
    threads = [threading.Thread(target=part.run) for part in parts]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    milliseconds = [value for part in parts for value in part.milliseconds]
    if len(milliseconds) != len(made["pages"]):
        raise RuntimeError(f"{len(milliseconds)} of {len(made['pages'])} saves were accepted")
    return len(milliseconds) / seconds, milliseconds


# From the press of a label's key to the frame after the one in which its mark was drawn.
_LABEL = """async (key) => {
  const begun = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return performance.now() - begun;
}"""
_PAINTED = "() => performance.getEntriesByName('workbench: painted')[0]?.duration"
_LISTED = "() => performance.getEntriesByName('workbench: listed')[0].duration"
_OPENED = """() => {
  const [mark] = performance.getEntriesByName("workbench: painted");
  return mark.startTime + mark.duration;
}"""


def _browser(site: BenchSite, made: dict[str, Any]) -> Iterator[Figure]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        context = browser.new_context(base_url=site.url, viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": made["session"], "url": site.url}])
        page = context.new_page()
        middle, large = made["large"]
        opened = [_open(page, middle, _OPENED) for _ in range(ROUNDS)]
        yield _beside("browser", statistics.median(opened), "ms")
        size = f"{made['bytes'][1] / 1e6:.1f} MB with {LARGE[1]:,} labels"
        painted = [_open(page, large, _PAINTED) for _ in range(ROUNDS)]
        yield Figure(f"{size}: marks painted", statistics.median(painted), "ms", None, 60)
        listed = [_open(page, large, _LISTED) for _ in range(ROUNDS)]
        yield Figure(f"{size}: list and counts, too", statistics.median(listed), "ms", None, 100)
        labelled = [_label_next(page, key) for key in "21" * ROUNDS]
        what = f"{size}: key to painted mark"
        yield Figure(what, statistics.median(labelled), "ms", None, 50)
        browser.close()


def _open(page: Page, task: int, measured: str) -> float:
    """Opens a task and returns what is measured of it, in milliseconds."""
    page.goto(f"/annotate/{task}/")
    # The first question to a page sends it the driver's own scripts: not while it is measured.
    page.wait_for_timeout(UNASKED)
    page.wait_for_selector("[data-workbench][data-facts=true]", timeout=60_000)
    page.wait_for_function(_PAINTED)
    page.wait_for_timeout(500)
    return float(page.evaluate(measured))


def _label_next(page: Page, key: str) -> float:
    """Goes to the next fact and gives it another label."""
    page.keyboard.press("n")
    page.wait_for_timeout(700)  # what the move and the save before it have set off is over
    return float(page.evaluate(_LABEL, key))


def _beside(key: str, ours: float, unit: str, *, less: bool = True) -> Figure:
    what, theirs, wanted = BESIDE[key]
    return Figure(what, ours, unit, theirs, wanted, less)
