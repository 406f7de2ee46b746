"""Errors of requests to a site. Every error has sentences that a user can act on."""

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.offline.terminal import BAD_INPUT, CommandFault


class SiteError(CommandFault):
    """A request to a site failed. `status` is None if no answer came."""

    def __init__(self, messages: Sequence[str], status: int | None = None) -> None:
        super().__init__(messages)
        self.status = status


class UnreachableError(SiteError):
    """No usable answer: the connection failed, timed out or broke, or the answer is no JSON."""


class NotAllowedError(SiteError):
    """401 or 403: the token is missing, wrong, expired or read only, or may not do this."""


class NotFoundError(SiteError):
    """404: it does not exist, or this token may not see it."""


class RefusedError(SiteError):
    """400, 409, 413, 415 or 422: the site refuses what was sent. `answer` is the site's answer."""

    code = BAD_INPUT

    def __init__(
        self, messages: Sequence[str], status: int, answer: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(messages, status)
        self.answer = dict(answer or {})


class BadDownloadError(SiteError):
    """A downloaded file is incomplete or does not match its hash. Nothing was kept."""


_KINDS = {401: NotAllowedError, 403: NotAllowedError, 404: NotFoundError}
_REFUSED = {400, 409, 413, 415, 422}


def error_of(status: int, answer: Any) -> SiteError:
    """The error for a site's answer, with the site's own sentences."""
    found = answer if isinstance(answer, dict) else {}
    messages = list(_messages(found)) or [f"The site answered HTTP {status}."]
    if status in _REFUSED:
        return RefusedError(messages, status, found)
    return _KINDS.get(status, SiteError)(messages, status)


def _messages(answer: Mapping[str, Any]) -> Sequence[str]:
    """The detail, the faults of a file with their lines, and what is wrong with each field."""
    messages = [str(answer["detail"])] if answer.get("detail") else []
    faults = answer.get("faults")
    if isinstance(faults, list):
        messages += [fault_line(fault) for fault in faults if isinstance(fault, dict)]
        more = int(answer.get("fault_count") or 0) - len(faults)
        if more > 0:
            messages.append(f"and {more:,} more")
        return messages
    for name, value in answer.items():
        if name != "detail":
            messages += [f"{name}: {text}" for text in _texts(value)]
    return messages


def fault_line(fault: Mapping[str, Any]) -> str:
    return f"{fault.get('file')}:{fault.get('line')}: {fault.get('message')}"


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    if isinstance(value, dict):
        return [f"{name}: {text}" for name, each in value.items() for text in _texts(each)]
    return [str(value)]
