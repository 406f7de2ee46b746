"""Looking through an upload before anything is stored: every fault, not only the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from django.contrib.auth.models import AnonymousUser

from portal.files.uploads import archive_limits
from scoring.access import Viewer, may_open_release
from scoring.benchmarks import Payload, ReadFault, ReadLimits, check_predictions
from scoring.models import Phase

# What one page or one API answer can usefully show; the rest is counted.
FAULTS_SHOWN = 200
MISSING_SHOWN = 20


@dataclass(frozen=True)
class CheckedUpload:
    """What an upload holds: predictions by item (ReleaseItem's key), its faults, the ids it lacks.

    With any fault it cannot be taken. Missing ids can be, once the submitter says so, unless
    `completeness_rule` says why the file must be complete. Missing ids are the release's, not the
    submitter's: where the reader may not know them, they are counted but not named.
    """

    predictions: dict[int, Payload]
    faults: tuple[ReadFault, ...]
    fault_count: int
    missing: tuple[str, ...]
    completeness_rule: str = ""
    names_missing: bool = True

    def can_be_taken(self, *, accept_missing: bool) -> bool:
        if self.fault_count:
            return False
        return not self.missing or (accept_missing and self.offers_missing)

    @property
    def offers_missing(self) -> bool:
        """Whether the submitter may choose to submit it without the missing ids."""
        return not self.completeness_rule

    @property
    def detail(self) -> str:
        """What speaks against taking it, in a sentence or two."""
        if self.fault_count:
            return f"Faults in the file: {self.fault_count}. Nothing was submitted."
        lacking = f"Documents without a prediction: {self.missing_count}."
        if self.completeness_rule:
            return f"{lacking} {self.completeness_rule} Nothing was submitted."
        return f"{lacking} Nothing was submitted. Send accept_missing=true to submit all the same."

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
        return self.missing[:MISSING_SHOWN] if self.names_missing else ()

    @property
    def hidden_missing_count(self) -> int:
        return len(self.missing) - len(self.shown_missing)


def check_upload(
    *, phase: Phase, file: IO[bytes], filename: str, user: Viewer | None = None
) -> CheckedUpload:
    """Reads the file against the ids of the phase's release. Gold is never opened, only ids are.

    `user` reads what is found; without one, nothing is named that is not public.
    """
    ids = dict(phase.items.order_by("position").values_list("name", "pk"))
    limits = ReadLimits(archive=archive_limits())
    lines = phase.board.spec.read_predictions(file, limits=limits)
    check = check_predictions(lines, ids, name=filename)
    return CheckedUpload(
        predictions={ids[name]: line.payload for name, line in check.lines.items()},
        faults=check.faults,
        fault_count=len(check.faults) + check.faults_left_out,
        missing=check.missing,
        completeness_rule=phase.completeness_rule,
        names_missing=may_open_release(user or AnonymousUser(), phase.release),
    )
