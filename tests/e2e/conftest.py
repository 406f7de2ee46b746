"""The sample site, loaded once for all journeys that leave its boards as they are."""

from collections.abc import Iterator

import pytest

from .site import Site


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Tests that ask for it are of the `xdist_group` "sample-site", so that one worker has it."""
    site = Site(tmp_path_factory.mktemp("sample-site"))
    site.manage("prepare")
    site.start()
    yield site
    site.stop()
