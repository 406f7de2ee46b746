"""The examples in the docstrings of what computes and of the readers hold."""

import doctest
from types import ModuleType

import pytest

from portal.datasets.curation import (
    acceptance,
    check_digits,
    draws,
    duplicates,
    masking,
    pii,
    records,
    statistics,
    stratified,
)
from portal.datasets.publishing import change_notes, citation, starter_kit
from portal.datasets.sources import filing_types, image_paths, items

MODULES = [
    acceptance,
    change_notes,
    check_digits,
    citation,
    draws,
    duplicates,
    filing_types,
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
