"""HTML to PDF with a headless Chromium that can reach nothing.

No script runs: scripting is off in the tab, and the page's policy forbids it. No request leaves:
the policy allows none, every one is aborted, the tab is offline, and the browser's proxy is a port
on which nothing listens.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .limits import HEIGHTS, MARGIN, WIDTH, NoBrowserError, RenderingError

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# As documents are shown elsewhere, but: nothing moves, nothing is repeated on the next sheet, and
# one character stays one character.
_STYLE = (
    "html{background:#fff;color:#111;font-variant-ligatures:none}"
    f"@page{{margin:{MARGIN}in}}"
    "body{margin:0;font:14px/1.4 'Liberation Serif','Times New Roman',Times,serif;"
    "overflow-wrap:break-word}"
    "table{border-collapse:collapse;max-width:100%}"
    "td,th{vertical-align:top;padding:1px 3px}"
    "thead,tfoot{display:table-row-group}"
    "pre{font:12px/1.35 'Liberation Mono','DejaVu Sans Mono',Consolas,monospace;"
    "white-space:pre-wrap}"
    "img{max-width:100%}"
    "*{animation:none!important;transition:none!important}"
)
_ARGUMENTS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
]


def page_of(html: str) -> str:
    """A whole page around canonical HTML, under a policy that lets nothing in."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>Document</title><style>{_STYLE}</style></head><body>{html}</body></html>"
    )


def find_chromium(wanted: str) -> str:
    """The path of the program; raises NoBrowserError with what to install."""
    path = shutil.which(wanted)
    if path is None:
        raise NoBrowserError(
            f"No Chromium found as “{wanted}”. Install the package chromium, or name the program in"
            " the setting CHROMIUM; page images can also be uploaded instead."
        )
    return path


@contextmanager
def open_tab(executable: str) -> Iterator[Any]:
    """A tab of a new browser. Raises NoBrowserError if it cannot be started."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        # Root cannot have the sandbox, and some containers do not allow it.
        for sandbox in (True, False) if os.geteuid() else (False,):
            try:
                browser = playwright.chromium.launch(
                    executable_path=executable, args=_ARGUMENTS, chromium_sandbox=sandbox
                )
                break
            except Error as error:
                reason = str(error).splitlines()[0][:300]
        else:
            raise NoBrowserError(f"Chromium ({executable}) cannot be started: {reason}")
        context = browser.new_context(
            offline=True, java_script_enabled=False, accept_downloads=False, service_workers="block"
        )
        # “aborted” leaves the document in the tab where it tried to go elsewhere; any other error
        # would put an error page in its place.
        context.route("**/*", lambda route: route.abort("aborted"))
        yield context.new_page()
        with suppress(Error):
            browser.close()


def print_pdf(tab: Any, html: str, *, height: float, sheets: int) -> bytes:
    """The first `sheets` sheets of a document, `height` inches high; of the one in the tab if
    `html` is empty. Raises RenderingError. It takes as long as it takes: who started us watches.
    """
    from playwright.sync_api import Error

    try:
        if html:
            tab.set_content(page_of(html), timeout=0, wait_until="load")
        return _printed(tab, height, sheets)
    except Error as error:
        reason = str(error).splitlines()[0][:300]
        raise RenderingError("not_rendered", f"Chromium cannot print it: {reason}") from error


def _printed(tab: Any, height: float, sheets: int) -> bytes:
    """On a busy machine Chromium says now and then that printing failed, and can do it then."""
    from playwright.sync_api import Error

    wanted = {"width": f"{WIDTH}in", "height": f"{height}in", "page_ranges": f"1-{sheets}"}
    try:
        pdf: bytes = tab.pdf(print_background=True, **wanted)
    except Error as error:
        if "Printing failed" not in str(error):
            raise
        pdf = tab.pdf(print_background=True, **wanted)
    return pdf


def print_fitting(tab: Any, html: str, *, sheets: int) -> Iterator[bytes]:
    """The document on Letter paper, then, for as long as the caller asks, on longer sheets."""
    for height in HEIGHTS:
        yield print_pdf(tab, html, height=height, sheets=sheets)
        html = ""  # it is in the tab now
