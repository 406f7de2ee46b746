"""The layouts of imports: what each is, which files it takes, and its reader.

The layout `pages` has a reader of its own, see `layout`; the others all give SourceItems.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from portal.datasets.models.imports import ImportRun
from portal.files.archives import ArchiveFault, ArchiveLimits

from .ccocr import read_ccocr
from .fcmbench import read_fcmbench
from .filings import FILING_SUFFIXES, read_filings
from .fincriticaled import read_fincriticaled
from .image_paths import PICTURE_SUFFIXES
from .items import SourceItems
from .labelstudio import read_labelstudio
from .layout import Refusal, counted_by_folder
from .opening import Source, open_source
from .parquet import read_parquet
from .receipts import read_receipts

Form = ImportRun.Form

# Benchmarks that the rows of a Parquet file may be the gold of.
BENCHMARKS = ("fincriticaled", "fcmbench", "ccocr", "receiptbench")


@dataclass(frozen=True)
class FormSource:
    """A layout: `suffixes` of the files it reads, and of these `alone` those that may be uploaded
    without a ZIP around them.
    """

    read: Callable[[Source, str, ArchiveLimits], SourceItems]
    suffixes: tuple[str, ...]
    alone: tuple[str, ...]


_TABLES = (".csv", ".csv.gz", ".parquet")
READERS: dict[str, FormSource] = {
    Form.FILING: FormSource(read_filings, FILING_SUFFIXES, FILING_SUFFIXES),
    Form.FINCRITICALED: FormSource(
        read_fincriticaled,
        (*_TABLES, ".jsonl", ".html", ".htm", ".txt", *PICTURE_SUFFIXES),
        _TABLES,
    ),
    Form.LABEL_STUDIO: FormSource(read_labelstudio, (".json",), (".json",)),
    Form.FCMBENCH: FormSource(read_fcmbench, (".jsonl", ".jsonl.gz", *PICTURE_SUFFIXES), ()),
    Form.CCOCR: FormSource(read_ccocr, (".json", ".jsonl", *PICTURE_SUFFIXES), ()),
    Form.RECEIPTS: FormSource(read_receipts, (".json", *PICTURE_SUFFIXES), ()),
    Form.PARQUET: FormSource(read_parquet, (".parquet", *PICTURE_SUFFIXES), (".parquet",)),
}


def suffixes_alone(form: str) -> tuple[str, ...]:
    """The endings of files that a layout takes as they are; all take a `.zip`."""
    return (".zip", *READERS[form].alone) if form in READERS else (".zip",)


def read_items(
    form: str, source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> SourceItems:
    """The items of a source in the layout `form`, one at a time. `name` is what it was called.
    `benchmark` counts for Parquet alone. Raises ArchiveFault when the source as a whole is
    unusable.
    """
    if form == Form.PARQUET:
        return read_parquet(source, name, limits, benchmark=benchmark)
    return READERS[form].read(source, name, limits)


def check_items(
    form: str, source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> None:
    """Raises ArchiveFault for a source of which nothing at all could be taken, as far as its first
    two items tell: whatever else is wrong, the report names.
    """
    with closing(read_items(form, source, name, limits, benchmark=benchmark)) as items:
        first = list(islice(items, 2))
    if not first:
        raise ArchiveFault("empty", "there is nothing to import in it")
    if len(first) == 1 and isinstance(first[0], Refusal):
        raise ArchiveFault(first[0].code, f"{first[0].name}: {first[0].reason}")


def left_alone(form: str, source: Source, name: str, limits: ArchiveLimits) -> dict[str, int]:
    """The files of a source whose endings are no part of its layout, counted by folder: what is
    known before anything is read. Raises ArchiveFault.
    """
    suffixes = READERS[form].suffixes
    with open_source(source, name, limits) as files:
        known = set(files.named(*suffixes))
        others = [file for file in files.names if file not in known]
        return counted_by_folder(others, among=files.names)
