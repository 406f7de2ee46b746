"""Connects benchmarks with releases and settings.

Releases get each benchmark's gold reader and an empty line of a submission. ReceiptBench gets the
sentence embedding that the settings name. Benchmarks are imported when they are first used, so that
the site starts without them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from django.conf import settings

from portal.datasets.releases.gold import GoldLines, register_gold_format
from portal.files.uploads import archive_limits

if TYPE_CHECKING:
    from scoring.benchmarks.receiptbench.embedding import Helpers

    from .benchmarks import Benchmark, GoldCheck


# Repeated here, because reading the benchmarks' own titles would import all of them.
TITLES = {
    "fincriticaled": "FinCriticalED",
    "fcmbench": "FCMBench",
    "findoc": "Financial document accuracy",
    "receiptbench": "ReceiptBench",
    "ccocr": "CC-OCR",
}


class BenchmarkFormat:
    """A benchmark by its key, as `portal.datasets.releases.gold` expects it."""

    def __init__(self, key: str, title: str) -> None:
        self.key = key
        self.title = title

    def read_file(self, source: Path | IO[bytes], name: str) -> GoldLines:
        check = self._check(source, name)
        faults = [str(fault) for fault in check.faults]
        if check.faults_left_out:
            faults.append(f"and {check.faults_left_out:,} more")
        lines: dict[str, Mapping[str, Any]] = {
            item: line.payload for item, line in check.lines.items()
        }
        return GoldLines(lines, {item: number for number, item in enumerate(lines)}, tuple(faults))

    def read_records(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> GoldLines:
        with TemporaryFile() as file:
            for _, record in records:
                file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
                file.write(b"\n")
            file.seek(0)
            check = self._check(file, "gold")
        blamed = [name for name, _ in records]
        faults = [
            f"{blamed[fault.line - 1] if fault.line else fault.file}: {fault.message}"
            for fault in check.faults
        ]
        lines: dict[str, Mapping[str, Any]] = {
            item: line.payload for item, line in check.lines.items()
        }
        places = {item: line.line - 1 for item, line in check.lines.items()}
        return GoldLines(lines, places, tuple(faults))

    def empty_line(self, name: str) -> Mapping[str, Any]:
        example: dict[str, Any] = json.loads(self._benchmark().example)
        empty = {key: type(value)() for key, value in example.items() if key != "id"}
        if self.key == "ccocr":
            # Items are named subset:id, because images of two subsets can have the same id.
            subset, _, name = name.partition(":")
            empty["subset"] = subset
        return {"id": name, **empty}

    def prompts(self) -> list[dict[str, str]]:
        from .benchmarks import item_prompts

        found = item_prompts(self.key)
        return [{**asdict(each), "sha256": each.sha256} for each in found]

    def _benchmark(self) -> "Benchmark":
        from .benchmarks import get_benchmark

        return get_benchmark(self.key)

    def _check(self, source: Path | IO[bytes], name: str) -> "GoldCheck":
        from .benchmarks import ReadLimits, check_gold

        limits = ReadLimits(archive=archive_limits())
        return check_gold(self._benchmark().read_gold(source, limits=limits), name)


def register_formats() -> None:
    for key, title in TITLES.items():
        register_gold_format(BenchmarkFormat(key, title))


def build_receiptbench() -> "Benchmark":
    """ReceiptBench with the embedding of the settings."""
    # Imports numerical libraries, which the site starts without.
    from scoring.benchmarks.receiptbench import RECEIPTBENCH, build_benchmark

    helpers = receipt_helpers()
    return RECEIPTBENCH if helpers is None else build_benchmark(helpers)


def receipt_helpers() -> "Helpers | None":
    """None without the setting. If the setting cannot be used, `why_none` gives the reason and only
    gradings that need an embedding fail."""
    from scoring.benchmarks.receiptbench.embedding import (
        EmbeddingError,
        FolderEmbedding,
        Helpers,
        embedding_name,
    )

    folder = settings.EMBEDDING_MODEL
    if folder is None:
        return None
    try:
        return Helpers(FolderEmbedding(folder), embedding_name(folder))
    except EmbeddingError as error:
        return Helpers(why_none=f"EMBEDDING_MODEL: {error}")
