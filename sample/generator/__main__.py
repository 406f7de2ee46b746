"""`python -m sample.generator`: rebuilds the shipped sample data."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from sample.generator.build import DATA, write
from sample.generator.images import MARKED_PAGE, find_boxes, render_images, render_marked
from sample.generator.ocr import run_all
from sample.generator.pages import PAGES
from sample.generator.sets.write import read_all, render, sample_sets
from sample.generator.sets.write import write as write_set

MARKED = DATA.parents[1] / "static" / "images" / "marked-page.png"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sample.generator", description=__doc__)
    parser.add_argument("--images", action="store_true", help="render page images (needs Chromium)")
    parser.add_argument("--ocr", action="store_true", help="run the OCR engines (see README)")
    options = parser.parse_args()
    say(f"{write()} files of pages, gold, metadata and labels")
    images = [DATA / "images" / f"{page.id}.png" for page in PAGES]
    if options.images:
        pages = [DATA / "pages" / f"{page.id}.html" for page in PAGES]
        say(f"{len(render_images(pages, DATA / 'images'))} page images")
        render_marked(DATA / "gold" / f"{MARKED_PAGE}.html", MARKED)
        say("1 picture for the home page", MARKED.parent)
        say(f"{write_boxes(pages)} lines of text boxes")
    if options.ocr:
        say(f"{len(run_all(images, DATA / 'submissions'))} files of submissions")
    for sample in sample_sets():
        say(f"{write_set(sample)} files of gold, sources and simulated submissions", sample.folder)
        if options.images:
            say(f"{render(sample)} images", sample.folder)
        if options.ocr:
            say(f"{read_all(sample)} OCR submissions", sample.folder)


def write_boxes(pages: Iterable[Path]) -> int:
    lines = [
        json.dumps({"id": name, "boxes": boxes}, separators=(",", ":")) + "\n"
        for name, boxes in find_boxes(pages)
    ]
    (DATA / "boxes.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def say(text: str, folder: Path = DATA) -> None:
    sys.stdout.write(f"Wrote {text} to {folder}\n")


if __name__ == "__main__":
    main()
