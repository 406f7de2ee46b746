"""Semantic versions of releases: MAJOR.MINOR.PATCH, perhaps with a pre-release: 1.0.0-rc.1."""

import re
from dataclasses import dataclass
from typing import Self

_NUMBER = r"(0|[1-9][0-9]{0,8})"
_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PART}(?:\.{_PART})*))?")
_LONGEST = 32


@dataclass(frozen=True)
class Version:
    """A version that compares as semver.org 2.0.0 §11 says. Build metadata is not accepted.

    >>> Version.parse("1.0.0-rc.2") < Version.parse("1.0.0-rc.10") < Version.parse("1.0.0")
    True
    """

    numbers: tuple[int, int, int]
    pre: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError with the reason."""
        match = _VERSION.fullmatch(text)
        if match is None or len(text) > _LONGEST:
            raise ValueError(f"{text!r:.60} is not a semantic version such as 1.0.0 or 1.1.0-rc.1")
        major, minor, patch, pre = match.groups()
        return cls((int(major), int(minor), int(patch)), tuple(pre.split(".")) if pre else ())

    def __lt__(self, other: "Version") -> bool:
        return self._key < other._key

    def __str__(self) -> str:
        suffix = "-" + ".".join(self.pre) if self.pre else ""
        return ".".join(map(str, self.numbers)) + suffix

    @property
    def _key(self) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
        """Numbers first; a pre-release comes before its release; its numeric parts before words."""
        parts = [(False, int(part), "") if part.isdigit() else (True, 0, part) for part in self.pre]
        return self.numbers, not self.pre, parts

    def next_patch(self) -> "Version":
        """The version to suggest after this one."""
        major, minor, patch = self.numbers
        return Version((major, minor, patch if self.pre else patch + 1))
