"""The navigation of a campaign or dataset: groups of pages, and the pages of the current group."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tab:
    name: str
    label: str
    href: str
    shown: bool = True


@dataclass(frozen=True)
class Group:
    label: str
    tabs: tuple[Tab, ...]

    @property
    def href(self) -> str:
        return self.tabs[0].href


@dataclass(frozen=True)
class Link:
    label: str
    href: str
    current: str
    """The value of aria-current: "page" on the page itself, "true" below it, or empty."""


@dataclass(frozen=True)
class Navigation:
    groups: tuple[Link, ...]
    group: str
    """The name of the current group. It is empty if that group has one page only."""
    pages: tuple[Link, ...]


def navigation(groups: Iterable[Group], current: str, *, below: bool) -> Navigation:
    """The links of both rows; `below` if the page is a subpage of the one that `current` names.

    Hidden tabs and empty groups are left out. A group with one tab is shown as that tab.
    """
    rows, name, pages = [], "", tuple[Link, ...]()
    mark = "true" if below else "page"
    for group in map(_reduced, groups):
        if not group.tabs:
            continue
        is_current = any(tab.name == current for tab in group.tabs)
        has_pages = len(group.tabs) > 1
        rows.append(
            Link(group.label, group.href, ("true" if has_pages else mark) if is_current else "")
        )
        if is_current and has_pages:
            name = group.label
            pages = tuple(
                Link(tab.label, tab.href, mark if tab.name == current else "") for tab in group.tabs
            )
    return Navigation(tuple(rows), name, pages)


def _reduced(group: Group) -> Group:
    tabs = tuple(tab for tab in group.tabs if tab.shown)
    return Group(tabs[0].label if len(tabs) == 1 else group.label, tabs)
