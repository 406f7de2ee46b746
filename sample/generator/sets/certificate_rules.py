"""Extracts the title and labelled values of a certificate from OCR output."""

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import process


class Found(NamedTuple):
    title: str
    values: dict[str, str]


def read_certificate(text: str, labels: Sequence[str], titles: Sequence[str]) -> Found:
    """Find the nearest of the titles, and the values after the labels on their lines.

    >>> read_certificate("Paysl1p\\nName: Ada Example", ["Name", "Month"], ["Payslip", "Receipt"])
    Found(title='Payslip', values={'Name': 'Ada Example'})
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    values = {}
    for line in lines:
        label, colon, value = line.partition(":")
        if colon and label.strip() in labels and value.strip():
            values[label.strip()] = value.strip()
    nearest = process.extractOne(lines[0], titles, score_cutoff=60) if lines else None
    return Found(nearest[0] if nearest else "", values)
