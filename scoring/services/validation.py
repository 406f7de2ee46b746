"""Looking through an upload before anything is stored: every fault, not only the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from portal.common.uploads import archive_limits
from scoring.benchmarks import Payload, ReadFault, ReadLimits, check_predictions
from scoring.models import Phase

# What one page or one API answer can usefully show; the rest is counted.
FAULTS_SHOWN = 200
MISSING_SHOWN = 20


@dataclass(frozen=True)
class CheckedUpload:
    """What an upload holds: predictions by item (ReleaseItem's key), its faults, the ids it lacks.

    With any fault it cannot be taken. Missing ids can be, once the submitter says so, unless the
    benchmark `names_every_id`.
    """

    predictions: dict[int, Payload]
    faults: tuple[ReadFault, ...]
    fault_count: int
    missing: tuple[str, ...]
    names_every_id: bool = False

    def can_be_taken(self, *, accept_missing: bool) -> bool:
        if self.fault_count:
            return False
        return not self.missing or (accept_missing and not self.names_every_id)

    @property
    def detail(self) -> str:
        """What speaks against taking it, in one sentence."""
        if self.fault_count:
            return f"Faults in the file: {self.fault_count}. Nothing was submitted."
        if self.names_every_id:
            return f"Every id must have a prediction; without one are {self.missing_count}."
        return f"Documents without a prediction, not accepted: {self.missing_count}."

    @property
    def missing_count(self) -> int:
        return len(self.missing)

    @property
    def shown_faults(self) -> Sequence[ReadFault]:
        return self.faults[:FAULTS_SHOWN]

    @property
    def hidden_fault_count(self) -> int:
        return self.fault_count - len(self.shown_faults)

    @property
    def shown_missing(self) -> Sequence[str]:
        return self.missing[:MISSING_SHOWN]

    @property
    def hidden_missing_count(self) -> int:
        return len(self.missing) - len(self.shown_missing)


def check_upload(*, phase: Phase, file: IO[bytes], filename: str) -> CheckedUpload:
    """Reads the file against the ids of the phase's release. Gold is never opened, only ids are."""
    ids = dict(phase.items.order_by("position").values_list("name", "pk"))
    limits = ReadLimits(archive=archive_limits())
    spec = phase.board.spec
    lines = spec.read_predictions(file, limits=limits)
    check = check_predictions(lines, ids, name=filename)
    return CheckedUpload(
        predictions={ids[name]: line.payload for name, line in check.lines.items()},
        faults=check.faults,
        fault_count=len(check.faults) + check.faults_left_out,
        missing=check.missing,
        names_every_id=spec.names_every_id,
    )
