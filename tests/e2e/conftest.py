"""The sample site, loaded once for all journeys that leave its boards as they are; no page is left
open."""

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


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Tests that ask for it are of the `xdist_group` "sample-site", so that one worker has it."""
    site = Site(tmp_path_factory.mktemp("sample-site"))
    site.prepare(sample=True)
    site.start()
    yield site
    site.stop()
