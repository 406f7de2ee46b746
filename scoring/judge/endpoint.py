"""An endpoint that judges, and what it replies."""

from dataclasses import dataclass, field
from typing import NamedTuple

from .pacing import Backoff


@dataclass(frozen=True)
class Endpoint:
    """Where the judge answers. Local ones take any key."""

    base_url: str
    model: str
    api_key: str = field(default="none", repr=False)
    timeout: float = 120.0
    calls_per_minute: int = 0
    backoff: Backoff = field(default_factory=Backoff)


class Reply(NamedTuple):
    text: str
    is_cut_off: bool
