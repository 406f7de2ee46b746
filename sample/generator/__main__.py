"""`python -m sample.generator`: rebuilds the shipped sample data."""

import argparse
import sys

from sample.generator.build import DATA, write
from sample.generator.images import render_images
from sample.generator.ocr import run_all
from sample.generator.pages import PAGES


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


def say(text: str) -> None:
    sys.stdout.write(f"Wrote {text} to {DATA}\n")


if __name__ == "__main__":
    main()
