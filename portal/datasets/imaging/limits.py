"""How a page is printed, and how much a document may take."""

from dataclasses import dataclass

DPI = 300
POINTS_PER_INCH = 72
# Letter, the paper of filings. What does not fit on one sheet is tried on longer ones, for a
# document is one page of a filing; what does not fit on the longest is printed on several.
WIDTH = 8.5
HEIGHTS = (11.0, 14.0, 17.0, 22.0)
MARGIN = 0.4


class RenderingError(Exception):
    """Why a document has no picture: a code for programs, a reason for people."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class NoBrowserError(Exception):
    """There is no Chromium that can be started. The message says what to do."""


@dataclass(frozen=True)
class Limits:
    """What one document may take; what takes more is refused by name.

    `seconds` from its HTML to its last image; `megabytes` of memory, the browser's processes
    together; `sheets` of paper. After `documents` the browser is started anew.
    """

    seconds: float = 60
    megabytes: int = 1500
    sheets: int = 40
    documents: int = 100
