"""Models of datasets, one module per noun.

All other modules may import `documents`, which imports `datasets`.
"""

from .acceptance import Batch, BatchDocument, Inspection
from .curation import DatasetTask, NearDuplicate, PiiFinding, Selection
from .datasets import Dataset
from .documents import (
    Document,
    DocumentContent,
    DocumentRecord,
    DocumentType,
    PageImage,
    TextBoxes,
    XbrlFacts,
)
from .immutable import ImmutableRowError
from .imports import ImportItem, ImportRun
from .releases import Dispute, LicenceAcceptance, Release, ReleaseItem

__all__ = [
    "Batch",
    "BatchDocument",
    "Dataset",
    "DatasetTask",
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
