"""What differs between two signatures, in words: the scorer's version, options and rules."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SignatureChange:
    """`version` is the scorer's, before and after, where it differs; so are the other `parts`."""

    version: tuple[str, str] | None
    parts: tuple[tuple[str, str], ...]

    @property
    def differs(self) -> bool:
        return self.version is not None or bool(self.parts)

    @property
    def words(self) -> str:
        """Such as `scorer v1 → v2; missing:zero → missing:skip`; empty where nothing differs."""
        changes = [f"scorer {self.version[0]} → {self.version[1]}"] if self.version else []
        changes += [f"{before or 'nothing'} → {after or 'nothing'}" for before, after in self.parts]
        return "; ".join(changes)


def signature_change(before: str, after: str) -> SignatureChange:
    """Signatures are `benchmark|version|name:value|…`; parts are matched by their names.

    >>> signature_change("b|v1|missing:zero|text:all", "b|v2|missing:skip|text:all").words
    'scorer v1 → v2; missing:zero → missing:skip'
    >>> signature_change("b|v1|rule", "b|v1|rule|units:page").words
    'nothing → units:page'
    """
    (was_version, *was), (now_version, *now) = _split(before), _split(after)
    old, new = _by_name(was), _by_name(now)
    parts = [
        (old.get(name, ""), new.get(name, ""))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    version = (was_version, now_version) if was_version != now_version else None
    return SignatureChange(version, tuple(parts))


def _split(signature: str) -> list[str]:
    """Version first, then the parts; the benchmark's own name is no part that could differ."""
    return signature.split("|")[1:] or [""]


def _by_name(parts: Sequence[str]) -> dict[str, str]:
    return {part.partition(":")[0]: part for part in parts}
