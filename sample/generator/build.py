"""Writes pages, gold, metadata and sample labels. The output is reproducible byte by byte."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sample.generator import hiding
from sample.generator.annotators import annotators_json
from sample.generator.layout import SamplePage
from sample.generator.markup import without_tags
from sample.generator.pages import PAGES

DATA = Path(__file__).resolve().parents[1] / "data"
LICENCE = "CC0-1.0"


def built() -> Iterator[tuple[str, str]]:
    """Every generated file as (path below the data folder, content)."""
    gold_pages = {page.id: page.gold() for page in PAGES}
    for page_id, gold in gold_pages.items():
        yield f"gold/{page_id}.html", gold
        yield f"pages/{page_id}.html", without_tags(gold)
    yield "meta.jsonl", "".join(json_line(card(page, gold_pages[page.id])) for page in PAGES)
    yield "annotators.json", annotators_json(gold_pages)
    yield f"submissions/{hiding.KEY}.jsonl", hiding.predictions(gold_pages)
    yield f"submissions/{hiding.KEY}.json", json.dumps(hiding.model_card(), indent=2) + "\n"


def card(page: SamplePage, gold: str) -> dict[str, Any]:
    """The line of `meta.jsonl` of a page."""
    return {
        "id": page.id,
        "doc_type": page.doc_type,
        "company": page.company,
        "form_type": page.form_type,
        "fiscal_year": page.fiscal_year,
        "title": page.title,
        "licence": LICENCE,
        "sample": True,
        "gold_source": "generator",
        "n_number": gold.count("<Number>"),
        "n_date": gold.count("<Date>"),
    }


def json_line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def write(folder: Path = DATA) -> int:
    """Writes all generated files below `folder` and returns their number."""
    files = dict(built())
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    return len(files)
