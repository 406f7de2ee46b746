"""Imports: a thousand pages, a large filing, and the memory that a very large archive takes.

Pages and filing are the real ones next to the checkout (see tests/shared.py); without them they are
generated. Every import runs in a process and with a database of its own.
"""

import io
import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.filings import filing

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("FACTBOARD_SHARED", ROOT.parent / "shared")) / "realdata"
PAGES = 1_000
FILING = "camp4_424b4.htm"
# The largest archive that the settings let in, a little under 2 GB.
ARCHIVE_MEGABYTES = 2_000
PICTURE_SIDE = 1_300


@dataclass(frozen=True)
class Row:
    """A line of the table: what is measured, and what it may be at most."""

    what: str
    measured: float
    unit: str
    wanted: float

    @property
    def is_met(self) -> bool:
        return self.measured <= self.wanted


def import_table() -> Iterator[str]:
    yield "Canonicalised, hashed and stored in SQLite, each in a process of its own. The archive"
    yield "holds pages with images that cannot be compressed; its figure is the process's peak."
    yield ""
    yield "| what | measured | at most | met |"
    yield "|---|---:|---:|---|"
    for measure in (_pages, _filing, _archive):
        with tempfile.TemporaryDirectory() as folder:
            row = measure(Path(folder))
        met = "yes" if row.is_met else "**no**"
        yield f"| {row.what} | {row.measured:,.1f} {row.unit} | {row.wanted:g} {row.unit} | {met} |"


def _pages(folder: Path) -> Row:
    source = folder / "source" / "pages"
    source.mkdir(parents=True)
    given = _real_pages() or [filing(f"p{n}", 40, n).html for n in range(1, 133)]
    for number in range(PAGES):
        # A sentence of its own makes each of the repeated pages another one.
        html = given[number % len(given)] + f"<p>This is copy {number} of the page.</p>"
        (source / f"page_{number:04}.html").write_text(html, encoding="utf-8")
    done = _import(folder, "pages", source.parent)
    kind = "real pages, repeated" if (SHARED / "dev").is_dir() else "generated pages"
    return Row(f"{done['documents']:,} {kind}, without images", done["seconds"], "s", 60)


def _real_pages() -> Sequence[str]:
    files = sorted((SHARED / "dev" / "pages").glob("*.html"))
    return [path.read_text(encoding="utf-8") for path in files]


def _filing(folder: Path) -> Row:
    path = SHARED / "filings" / FILING
    if not path.is_file():
        path = folder / FILING
        path.write_text(filing("large", 12_000, 1).html, encoding="utf-8")
    done = _import(folder, "filing", path)
    size = path.stat().st_size / 1_000_000
    what = f"a filing of {size:.1f} MB, {done['documents']} pages"
    return Row(what, done["seconds"], "s", 3)


def _archive(folder: Path) -> Row:
    path = folder / "large.zip"
    pages = _write_archive(path)
    size = path.stat().st_size / 1_000_000_000
    done = _import(folder, "pages", path)
    if done["documents"] != pages:
        raise RuntimeError(f"{done['documents']} of {pages} pages were imported")
    return Row(f"memory for a ZIP of {size:.1f} GB", done["megabytes"], "MB", 500)


def _write_archive(path: Path) -> int:
    """A ZIP of noise: pages, each with a picture of its own; returns how many."""
    from PIL import Image

    noise = random.Random(1)  # noqa: S311 – noise, no secret
    size = pages = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        while size < ARCHIVE_MEGABYTES * 1024**2:
            picture = io.BytesIO()
            data = noise.randbytes(PICTURE_SIDE * PICTURE_SIDE * 3)
            Image.frombytes("RGB", (PICTURE_SIDE, PICTURE_SIDE), data).save(
                picture, "PNG", compress_level=0
            )
            bundle.writestr(f"images/p{pages:04}.png", picture.getvalue())
            bundle.writestr(f"pages/p{pages:04}.html", f"<p>Page {pages}</p>")
            size += picture.tell()
            pages += 1
    return pages


def _import(folder: Path, form: str, path: Path) -> dict[str, Any]:
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}",
    }
    (folder / "var").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "bench.importing", form, str(path)]
    done = subprocess.run(  # noqa: S603 – our own module
        command, check=False, cwd=ROOT, env=env, text=True, capture_output=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
