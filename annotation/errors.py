"""Refusals of services. Views and the API show them as messages; nothing was changed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

# Maximum length of the reason of a screening verdict, a return or an accepted fault.
MAX_WORKFLOW_REASON = 1000


class Refused(Exception):
    """The request cannot be carried out. `message` is for users, `code` for programs.

    `api_hint` names the parameter that pages show as a box to select. Only the API shows it.
    """

    code = "refused"
    message = ""
    api_hint = ""

    def __init__(self, message: str = "", *, code: str = "") -> None:
        self.message = message or self.message
        self.code = code or self.code
        super().__init__(self.message)


class Unfinished(Refused):
    """Some documents are not gold yet; `names` lists them."""

    code = "unfinished"

    def __init__(self, message: str, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = list(names)


class DoubtfulGold(Refused):
    """The release would contain facts with warnings on which no one decided; `facts` lists them."""

    code = "doubtful"

    def __init__(self, facts: Sequence[Any]) -> None:
        those = "1 fact has a warning" if len(facts) == 1 else f"{len(facts)} facts have a warning"
        super().__init__(f"{those} and no decision. Open cases for them and decide each one.")
        self.facts = list(facts)


class InvalidSpans(Refused):
    """Invalid spans. `errors`: [{index, key?, code, message}, …], one per fault."""

    code = "invalid"

    def __init__(self, errors: Sequence[dict[str, Any]]) -> None:
        super().__init__(str(errors[0]["message"]))
        self.errors = list(errors)


class Conflict(Refused):
    """The request is based on an outdated revision. Holds the current revision and its spans."""

    code = "conflict"

    def __init__(
        self, *, revision: int, saved_at: datetime | None, spans: Sequence[dict[str, Any]]
    ) -> None:
        super().__init__(
            f"This document was changed elsewhere and is now at revision {revision}. "
            "Reload it to continue."
        )
        self.revision = revision
        self.saved_at = saved_at
        self.spans = list(spans)


class AlreadySubmitted(Refused):
    code = "submitted"
    message = "This document is submitted. Its labels are final."


class NothingLabelled(Refused):
    code = "empty"
    message = (
        "This document has no labels. Label its facts, or select “This document has no facts”."
    )
    api_hint = "To submit it without labels, send no_facts: true."


class OwnWork(Refused):
    code = "own_work"
    message = (
        "You annotated this document. Another lead must decide about it. If there is none, add a "
        "lead or ask an organiser."
    )


class CampaignNotOpen(Refused):
    code = "closed"
    message = "The campaign is not open. You can view its documents but not change them."


class PageExcluded(Refused):
    code = "excluded"
    message = "This document was excluded as faulty. You do not need to finish it."


class Reassigned(Refused):
    code = "reassigned"
    message = "This document was reassigned to another annotator. You can no longer change it."


def check_reason(reason: str) -> str:
    """The stripped reason. Raises Refused if it is empty or too long."""
    if not reason.strip():
        raise Refused("Enter a reason.", code="reason")
    check_reason_length(reason)
    return reason.strip()


def check_reason_length(reason: str) -> None:
    if len(reason) > MAX_WORKFLOW_REASON:
        raise Refused(f"The reason is longer than {MAX_WORKFLOW_REASON} characters.", code="reason")
