"""Models of the dataset manager, one module per noun.

Imports go one way: `imports` and `releases` may import `documents`, that one `datasets`.
"""

from .datasets import Dataset
from .documents import Document, DocumentContent, DocumentType, PageImage, XbrlFacts
from .immutable import ImmutableRowError
from .imports import ImportItem, ImportRun
from .releases import Release, ReleaseItem

__all__ = [
    "Dataset",
    "Document",
    "DocumentContent",
    "DocumentType",
    "ImmutableRowError",
    "ImportItem",
    "ImportRun",
    "PageImage",
    "Release",
    "ReleaseItem",
    "XbrlFacts",
]
