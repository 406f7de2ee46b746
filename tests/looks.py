"""Checks pages in two looks: wide and light, narrow and dark.

Colours do not depend on the width, and the layout does not depend on the colours. So two looks
find the same problems as all four combinations.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

LOOKS = ((1440, "light"), (390, "dark"))
GRAVE = {"serious", "critical"}
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

in_both_looks = pytest.mark.parametrize(("width", "scheme"), LOOKS)


def faults_in_both_looks(
    page: Page, where: str = "", *, part: str | None = None, every: bool = False
) -> list[str]:
    """Returns the problems of an open page: axe violations, and content wider than the window.

    `part` is the region that axe checks. Only serious and critical violations count, unless `every`
    is set. The page is not reloaded for the second look: tests/e2e/test_every_page.py loads pages
    in a narrow window.
    """
    found: list[str] = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        at = f"{where or page.url} ({width} px, {scheme})"
        found += [f"{at}: {fault}" for fault in faults_in_this_look(page, part=part, every=every)]
    return found


def faults_in_this_look(page: Page, *, part: str | None = None, every: bool = True) -> list[str]:
    """Returns the problems of an open page in its present width and colours.

    A click returns when the next page has begun to arrive, so this waits until it is loaded.
    """
    page.wait_for_load_state()
    return [*_overflow(page), *_violations(page, part, every)]


def _overflow(page: Page) -> Iterator[str]:
    if (pixels := page.evaluate(_OVERFLOW)) > 0:
        yield f"wider than the window by {pixels} px"


def _violations(page: Page, part: str | None, every: bool) -> Iterator[str]:
    for each in Axe().run(page, context=part).response["violations"]:
        if every or each["impact"] in GRAVE:
            yield f"{each['id']}: {[node['html'][:200] for node in each['nodes']]}"
