"""Severity-weighted accuracy: how much of the facts survives, when some errors are graver than
others."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scoring.benchmarks.base import RuleTable


@dataclass(frozen=True)
class Severity:
    """The weights of the error types, each in [0, 1], with the reason for each."""

    version: str
    weights: Mapping[str, float]
    reasons: Mapping[str, str]

    def weighted_accuracy(self, errors: Mapping[str, int], facts: int) -> float | None:
        """1 - sum of weight(error) over the facts that are wrong / number of facts.

        In [0, 1], higher is better. A correct fact loses nothing, the gravest error all of a fact,
        so that it is at least FFA, and equal to it when every error weighs 1. None without facts.

        >>> SEVERITY.weighted_accuracy({"sign": 1, "separator": 1}, 4)
        0.7
        """
        if not facts:
            return None
        lost = sum(self.weights[error] * count for error, count in sorted(errors.items()))
        return 1 - lost / facts

    def table(self) -> RuleTable:
        """The weights, gravest first, to be shown with the rules."""
        return RuleTable(
            title="Severity of errors",
            help=f"Version {self.version}. Severity-weighted accuracy = 1 - sum of the weights of "
            "all errors / number of facts.",
            heads=("Error", "Weight", "Such a fact"),
            rows=tuple(
                (error, f"{weight:g}", self.reasons[error])
                for error, weight in sorted(
                    self.weights.items(), key=lambda pair: (-pair[1], pair[0])
                )
            ),
        )


def _load(path: Path) -> Severity:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = content["weight"]
    return Severity(
        version=content["version"],
        weights={row["error"]: row["weight"] for row in rows},
        reasons={row["error"]: row["reason"] for row in rows},
    )


SEVERITY = _load(Path(__file__).with_name("severity.toml"))
