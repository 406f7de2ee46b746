"""Seeded generator of the sample benchmark. Pure Python: no Django, no outside data.

`families` holds the pages, `content` their labels, names and ranges; `markup`, `figures`, `lines`,
`layout`, `tables` and `forms` build pages. `build` writes pages, gold and
metadata, `annotators` the labels of the sample annotators; `images` runs Chromium, `ocr` tesseract.
"""
