"""A sample site for every module that uses one; every page is closed after its test."""

from collections.abc import Iterator

import pytest

from .site import Site


@pytest.fixture(autouse=True)
def _no_page_stays_open(request: pytest.FixtureRequest) -> Iterator[None]:
    """A page that is left open goes on asking its site, and takes time from the tests after it."""
    yield
    if "browser" in request.fixturenames:
        for context in request.getfixturevalue("browser").contexts:
            context.close()


@pytest.fixture(scope="module")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The sample site with its web server, for one module to read and change. No worker runs, and
    no job is waiting for one."""
    with Site(tmp_path_factory.mktemp("sample-site")) as site:
        site.prepare(sample=True)
        site.start_web()
        yield site
