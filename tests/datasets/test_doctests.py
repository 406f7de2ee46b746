"""The examples in the docstrings of computing modules and readers are correct."""

import doctest
from types import ModuleType

import pytest

from portal.datasets.acceptance import audits as acceptance
from portal.datasets.acceptance import records
from portal.datasets.curation import draws, pii
from portal.datasets.curation import draws as stratified
from portal.datasets.curation import near_duplicates as duplicates
from portal.datasets.curation import pii as check_digits
from portal.datasets.curation import pii as masking
from portal.datasets.disputes import gold_view
from portal.datasets.documents import statistics
from portal.datasets.imports import filings as filing_types
from portal.datasets.imports import items
from portal.datasets.imports import items as image_paths
from portal.datasets.releases.publishing import croissant as citation
from portal.datasets.releases.publishing import diff as change_notes
from portal.datasets.releases.publishing import kits as starter_kit

MODULES = [
    acceptance,
    change_notes,
    check_digits,
    citation,
    draws,
    duplicates,
    filing_types,
    gold_view,
    image_paths,
    items,
    masking,
    pii,
    records,
    starter_kit,
    statistics,
    stratified,
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
