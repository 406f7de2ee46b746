"""What an archive of a release says of its documents beside their content."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from portal.datasets.models.documents import document_source
from portal.datasets.publishing.jsonl import read_line
from portal.datasets.publishing.manifest import Manifest
from portal.datasets.publishing.meta_lines import LANGUAGE, META_LINES
from portal.datasets.publishing.rows import PublishingError
from portal.datasets.publishing.verify import Archive, archive_lines
from portal.datasets.sources.json_values import check_plain
from portal.datasets.sources.meta import DocumentMeta, described, read_text


@dataclass(frozen=True)
class RestoredMeta:
    meta: DocumentMeta = field(default_factory=DocumentMeta)
    language: str = ""
    line: str = ""
    """As the archive has it, with its line break."""

    def fields(self, benchmark: str) -> dict[str, Any]:
        """As keyword arguments of Document."""
        source = document_source(self.meta.source_url, benchmark)
        return {**self.meta.fields(), "language": self.language, "source": source}


def read_meta(archive: Archive, manifest: Manifest) -> Mapping[str, RestoredMeta]:
    """By document; older archives say nothing. Raises PublishingError with line and field."""
    if META_LINES not in {file.path for file in manifest.files}:
        return {}
    found: dict[str, RestoredMeta] = {}
    for number, line in enumerate(archive_lines(archive, META_LINES), 1):
        about = read_line(META_LINES, number, line)
        try:
            name, restored = _read(about, line)
        except ValueError as error:
            raise PublishingError(f"{META_LINES}:{number}", str(error)) from error
        found[name] = restored
    return found


def _read(about: dict[str, Any], line: bytes) -> tuple[str, RestoredMeta]:
    check_plain(about)
    name, language = about.pop("id", None), about.pop(LANGUAGE, "")
    if not isinstance(name, str):
        raise ValueError("id: missing, or not a text")
    try:
        written = line.decode() + "\n"
        return name, RestoredMeta(described(about), read_text(LANGUAGE, language), written)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
