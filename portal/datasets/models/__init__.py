"""Models of datasets.

All other modules may import `documents`.
"""

from .curation import Batch, BatchDocument, Inspection, NearDuplicate, PiiFinding, Selection
from .documents import (
    Dataset,
    Document,
    DocumentContent,
    DocumentRecord,
    DocumentType,
    ImmutableRowError,
    XbrlFacts,
)
from .images import PageImage, TextBoxes
from .releases import Dispute, LicenceAcceptance, Release, ReleaseItem
from .work import DatasetTask, DatasetWork, ImportItem, ImportRun

__all__ = [
    "Batch",
    "BatchDocument",
    "Dataset",
    "DatasetTask",
    "DatasetWork",
    "Dispute",
    "Document",
    "DocumentContent",
    "DocumentRecord",
    "DocumentType",
    "ImmutableRowError",
    "ImportItem",
    "ImportRun",
    "Inspection",
    "LicenceAcceptance",
    "NearDuplicate",
    "PageImage",
    "PiiFinding",
    "Release",
    "ReleaseItem",
    "Selection",
    "TextBoxes",
    "XbrlFacts",
]
