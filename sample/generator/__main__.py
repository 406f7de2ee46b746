"""`python -m sample.generator`: rebuilds the shipped sample data."""

import argparse
import sys
from pathlib import Path

from sample.generator.build import DATA, write
from sample.generator.images import render_images
from sample.generator.ocr import run_all
from sample.generator.pages import PAGES
from sample.generator.sets.write import read_all, render, sample_sets
from sample.generator.sets.write import write as write_set


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sample.generator", description=__doc__)
    parser.add_argument("--images", action="store_true", help="render page images (needs Chromium)")
    parser.add_argument("--ocr", action="store_true", help="run the OCR engine (needs tesseract)")
    options = parser.parse_args()
    say(f"{write()} files of pages, gold, metadata and labels")
    images = [DATA / "images" / f"{page.id}.png" for page in PAGES]
    if options.images:
        pages = [DATA / "pages" / f"{page.id}.html" for page in PAGES]
        say(f"{len(render_images(pages, DATA / 'images'))} page images")
    if options.ocr:
        say(f"{len(run_all(images, DATA / 'submissions'))} files of submissions")
    for sample in sample_sets():
        say(f"{write_set(sample)} files of gold, sources and simulated submissions", sample.folder)
        if options.images:
            say(f"{render(sample)} images", sample.folder)
        if options.ocr:
            say(f"{read_all(sample)} OCR submissions", sample.folder)


def say(text: str, folder: Path = DATA) -> None:
    sys.stdout.write(f"Wrote {text} to {folder}\n")


if __name__ == "__main__":
    main()
