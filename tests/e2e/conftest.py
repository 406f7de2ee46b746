"""An empty site, and a sample site for each module that uses one.

All browser pages close after each test.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .site import Site


@pytest.fixture(autouse=True)
def _no_page_stays_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """An open page keeps sending requests, which slows down the tests that follow."""
    yield
    if "browser" in request.fixturenames:
        for context in request.getfixturevalue("browser").contexts:
            context.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """An empty site with its web server and a worker."""
    with Site(tmp_path) as site:
        site.prepare()
        site.start()
        yield site


@pytest.fixture(scope="module")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample site with its web server. One module may read and change it.

    No worker runs, and no job is queued.
    """
    with Site(tmp_path_factory.mktemp("sample-site")) as site:
        site.prepare(sample=True)
        site.start_web()
        yield site
