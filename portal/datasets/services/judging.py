"""What the imports of all forms ask of a page and a picture. Reads nothing of the database."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from portal.datasets.sources.pictures import Picture
from portal.facts import Canonical, RefusedHtml, TagError
from portal.facts.xbrl import XbrlDetail, XbrlResources, read_resources, read_xbrl_details


def xbrl_rows(
    html: str, canonical: Canonical, resources: XbrlResources | None = None
) -> list[list[Any]] | None:
    """What the filer tagged, as rows of XbrlFacts; None if it could not be placed.

    `resources` are those of the whole filing where `html` is a page of one. It helps annotators,
    so that a page without it is no worse.
    """
    try:
        known = read_resources(html) if resources is None else resources
        return [_xbrl_row(detail) for detail in read_xbrl_details(html, canonical, known)]
    except (TagError, RefusedHtml):
        return None


def _xbrl_row(detail: XbrlDetail) -> list[Any]:
    period = "/".join(part for part in detail.period if part)
    said = {"sign": detail.sign, "scale": detail.scale, "unit": detail.unit, "period": period}
    known = {key: value for key, value in said.items() if value}
    return [*detail.fact, known] if known else [*detail.fact]


def picture_sha256(*, name: str, benchmark: str, prompt: str, pictures: Sequence[Picture]) -> str:
    """The hash by which a picture document is known, in the place of its HTML's.

    Benchmarks ask several questions of one picture, so that the pictures alone would not do: it is
    the SHA-256 of the canonical JSON of name, benchmark, prompt and the pictures' hashes in order.
    """
    said = {
        "benchmark": benchmark,
        "name": name,
        "pictures": [picture.sha256 for picture in pictures],
        "prompt": prompt,
    }
    written = json.dumps(said, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()
