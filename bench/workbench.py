"""The annotation workbench: the cost of its server, and its response times.

See docs/benchmarks-workbench.md for the method.
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.client import Client, rate_and_p95
from bench.filings import filings
from bench.label_studio import SETTLED, VERSION, label_studio_figures
from bench.site import BenchSite

PAGES = 200
FACTS = 40
LARGE = (1_140, 4_700)
CLIENTS = 4
ROUNDS = 5
# Requests needed before labelling can start: the page with its labels, and the document.
OPENED = ("/annotate/{}/", "/annotate/{}/html/")
# Other requests when it opens (static/js/workbench/main.js).
PARTS = (
    "/api/v1/assignments/{}/facts/",
    "/api/v1/assignments/{}/warnings/",
    "/api/v1/assignments/{}/comments/",
)
# How long a page is left idle after loading, in milliseconds.
UNASKED = 1_500

# How many times better than Label Studio each figure is meant to be.
ASKED: dict[str, tuple[str, float]] = {
    "first": ("empty database to first page", 5),
    "memory": ("web server's memory, idle", 2),
    "open": ("CPU to open a page with 40 labels", 5),
    "save": ("CPU to save 40 labels", 5),
    "rate": ("saves per second, 4 clients", 5),
    "p95": ("95th percentile of those saves", 1),
}


@dataclass(frozen=True)
class Figure:
    """One line of the table; `less` says whether less is better.

    `theirs` is Label Studio's figure of the same run, `times` how many times better ours is meant
    to be; `limit` is what ours is meant to keep where nothing is compared.
    """

    what: str
    ours: float
    unit: str
    theirs: float | None = None
    times: float | None = None
    limit: float | None = None
    less: bool = True

    @property
    def ratio(self) -> float | None:
        """How many times better ours is; None when Label Studio was not measured."""
        if self.theirs is None:
            return None
        return self.theirs / self.ours if self.less else self.ours / self.theirs

    @property
    def is_met(self) -> bool | None:
        """Whether it is as good as it is meant to be; None when nothing decides that."""
        if self.ratio is not None and self.times is not None:
            return self.ratio >= self.times
        return None if self.limit is None else self.ours <= self.limit


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

    @property
    def count(self) -> int:
        return len(self._tasks)

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


def workbench_table(label_studio: Path | None = None) -> Iterator[str]:
    """The lines of the section; Label Studio's from the environment in which it is installed."""
    if label_studio:
        yield f"Compared with Label Studio {VERSION} from its package, measured in the same run on"
        yield "the same machine: the same pages, labels and clients."
    else:
        yield "Label Studio was not measured in this run (`make label-studio` installs it)."
    yield "How: [benchmarks-workbench.md](benchmarks-workbench.md)."
    yield ""
    yield "| what | ours | Label Studio | times better | at least | met |"
    yield "|---|---:|---:|---:|---:|---|"
    for row in figures(label_studio):
        yield _row(row)


def _row(row: Figure) -> str:
    theirs = "–" if row.theirs is None else f"{row.theirs:,.1f} {row.unit}"
    ratio = "–" if row.ratio is None else f"{row.ratio:,.1f}"
    wanted = "–" if row.times is None else f"{row.times:g}"
    if row.limit is not None:
        wanted = f"≤ {row.limit:,.0f} {row.unit}"
    met = {True: "yes", False: "**no**", None: "–"}[row.is_met]
    return f"| {row.what} | {row.ours:,.1f} {row.unit} | {theirs} | {ratio} | {wanted} | {met} |"


def figures(label_studio: Path | None) -> Iterator[Figure]:
    pages = filings(PAGES, FACTS)
    theirs = label_studio_figures(label_studio, pages, CLIENTS) if label_studio else {}
    beside = partial(_beside, theirs)
    with tempfile.TemporaryDirectory() as folder:
        site = BenchSite(Path(folder))
        try:
            yield beside("first", site.first_page() * 1000, "ms")
            time.sleep(SETTLED)
            yield beside("memory", site.web.memory(), "MB")
            made = site.run(f"make({PAGES}, {FACTS}, {LARGE})")
            yield from _server(site, made, beside)
            yield from _browser(site, made)
        finally:
            site.stop()


def _server(
    site: BenchSite, made: dict[str, Any], beside: Callable[..., Figure]
) -> Iterator[Figure]:
    page, api = (_client(site, made, name) for name in ("session", "token"))
    tasks = made["pages"]
    urls = [part.format(task) for task in tasks for part in OPENED]
    page.page(urls[0])
    opened = site.web.cpu_milliseconds(len(tasks), lambda: [page.page(url) for url in urls])
    yield beside("open", opened, "ms")
    # No page is saved before it was opened, and what was asked for then need not be read again.
    parts = [part.format(task) for task in tasks for part in PARTS]
    rest = site.web.cpu_milliseconds(len(tasks), lambda: [page.page(part) for part in parts])
    yield Figure("CPU for all that the browser asks for to open it", opened + rest, "ms")
    saves = Saves(api, tasks)
    yield beside("save", site.web.cpu_milliseconds(len(tasks), saves.run), "ms")
    shares = [tasks[number::CLIENTS] for number in range(CLIENTS)]
    together = rate_and_p95([Saves(_client(site, made, "token"), share) for share in shares])
    yield beside("rate", together["rate"], "/s", less=False)
    yield beside("p95", together["p95"], "ms")


def _client(site: BenchSite, made: dict[str, Any], kind: str) -> Client:
    """With the annotator's session, as a browser has it, or with a token."""
    headers = {
        "session": {"Cookie": f"sessionid={made['session']}"},
        "token": {"Authorization": f"Bearer {made['token']}"},
    }
    return Client(site.port, headers[kind])


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
        what = f"a page with {LARGE[0]:,} labels opens in the browser"
        yield Figure(what, statistics.median(opened), "ms", limit=1_150)
        size = f"{made['bytes'][1] / 1e6:.1f} MB with {LARGE[1]:,} labels"
        painted = [_open(page, large, _PAINTED) for _ in range(ROUNDS)]
        yield Figure(f"{size}: marks painted", statistics.median(painted), "ms", limit=60)
        listed = [_open(page, large, _LISTED) for _ in range(ROUNDS)]
        yield Figure(f"{size}: list and counts, too", statistics.median(listed), "ms", limit=100)
        labelled = [_label_next(page, key) for key in "21" * ROUNDS]
        what = f"{size}: key to painted mark"
        yield Figure(what, statistics.median(labelled), "ms", limit=50)
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


def _beside(
    theirs: Mapping[str, float], key: str, ours: float, unit: str, *, less: bool = True
) -> Figure:
    what, times = ASKED[key]
    return Figure(what, ours, unit, theirs.get(key), times, less=less)
