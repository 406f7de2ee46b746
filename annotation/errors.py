"""Why a service refused. Views and the API turn these into messages; nothing was changed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

# Of a screening verdict, and of work that goes back to its annotator or passes with its faults.
MAX_WORKFLOW_REASON = 1000


class Refused(Exception):
    """What was asked cannot be done now. The message is for people, `code` for programs."""

    code = "refused"

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code


class Unfinished(Refused):
    """Documents that are not gold yet stand in the way; `names` lists them."""

    code = "unfinished"

    def __init__(self, message: str, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = list(names)


class DoubtfulGold(Refused):
    """Facts with warnings would be released; `facts` lists them, `count` is to be accepted."""

    code = "doubtful"

    def __init__(self, facts: Sequence[Any]) -> None:
        plural = "s have" if len(facts) != 1 else " has"
        super().__init__(
            f"{len(facts)} fact{plural} a warning. Correct the facts, or accept them by their "
            f"number: accept_warnings {len(facts)}."
        )
        self.facts = list(facts)


class InvalidSpans(Refused):
    """Spans that cannot be taken. `errors`: [{index, key?, code, message}, …], one per fault."""

    code = "invalid"

    def __init__(self, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(str(errors[0]["message"]))
        self.errors = list(errors)


class Conflict(Refused):
    """The work was made from another revision than the current one, which is told here."""

    code = "conflict"

    def __init__(
        self, *, revision: int, saved_at: datetime | None, spans: Sequence[dict[str, Any]]
    ) -> None:
        super().__init__(
            f"This page was changed elsewhere: it is at revision {revision} by now. "
            "Load it again before you go on."
        )
        self.revision = revision
        self.saved_at = saved_at
        self.spans = list(spans)


class AlreadySubmitted(Refused):
    code = "submitted"

    def __init__(self) -> None:
        super().__init__("This page was submitted; its labels are final.")


class NothingLabelled(Refused):
    code = "empty"

    def __init__(self) -> None:
        super().__init__(
            "This page has no label. Label its facts, or confirm that it has none: tick “This page "
            "has no facts”, in the API send no_facts: true."
        )


class CampaignNotOpen(Refused):
    code = "closed"

    def __init__(self) -> None:
        super().__init__("The campaign is not open: its pages can be read but not changed.")


class PageExcluded(Refused):
    code = "excluded"

    def __init__(self) -> None:
        super().__init__("This page was found faulty and is left out: you need not finish it.")


class Reassigned(Refused):
    code = "reassigned"

    def __init__(self) -> None:
        super().__init__("This page was given to somebody else: you can no longer change it.")


def check_reason(reason: str) -> str:
    """The reason without white space around it; raises Refused for none and for a long one."""
    if not reason.strip():
        raise Refused("Give a reason.", code="reason")
    check_reason_length(reason)
    return reason.strip()


def check_reason_length(reason: str) -> None:
    if len(reason) > MAX_WORKFLOW_REASON:
        raise Refused(f"The reason is longer than {MAX_WORKFLOW_REASON} characters.", code="reason")
