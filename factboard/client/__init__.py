"""A typed client of a Factboard site. Use it as `factboard.Client`."""

from .api import ENDPOINTS, Client, Download
from .connection import (
    BadDownloadError,
    NotAllowedError,
    NotFoundError,
    RefusedError,
    SiteError,
    UnreachableError,
)
from .models import ModelCard

__all__ = [
    "ENDPOINTS",
    "BadDownloadError",
    "Client",
    "Download",
    "ModelCard",
    "NotAllowedError",
    "NotFoundError",
    "RefusedError",
    "SiteError",
    "UnreachableError",
]
