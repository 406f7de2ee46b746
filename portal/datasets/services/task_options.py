"""Options of tasks that are asked for from outside: for which kinds, and which there are."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.module_loading import import_string

# A check gives the options as they are kept, and raises OptionsError. By name, as runners are.
CHECKS: dict[str, str] = {
    "render": "portal.datasets.services.page_images.check_options",
    "pii": "portal.datasets.services.personal_data.check_scan",
    "duplicates": "portal.datasets.services.duplicates.check_search",
    "content": "portal.datasets.services.content_check.check_content_options",
}


class OptionsError(ValueError):
    """What is wrong with the options of a task. The message is for people."""


def check_options(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as a task of the kind keeps them; raises OptionsError."""
    if kind not in CHECKS:
        raise OptionsError(f"a task of kind {kind} cannot be started here")
    check: Callable[[Mapping[str, Any]], dict[str, Any]] = import_string(CHECKS[kind])
    return check(options)


def refuse_others(options: Mapping[str, Any], known: set[str]) -> None:
    """Raises OptionsError for an option that the kind does not have."""
    unknown = sorted(set(options) - known)
    if unknown:
        raise OptionsError(f"unknown option {unknown[0]!r}; there is {', '.join(sorted(known))}")
