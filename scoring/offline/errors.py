"""How a command ends early: each error has its exit code, and messages that a user can act on."""

from collections.abc import Sequence

FAILURE, BAD_INPUT, STOPPED = 1, 2, 130


class CommandFault(Exception):
    """Ends a command with `code` after printing its messages, one per line."""

    code = FAILURE

    def __init__(self, messages: str | Sequence[str]) -> None:
        self.messages = (messages,) if isinstance(messages, str) else tuple(messages)
        super().__init__("\n".join(self.messages))


class BadInput(CommandFault):
    """Arguments or files that cannot be used."""

    code = BAD_INPUT


class Failure(CommandFault):
    """Something outside the input went wrong."""
