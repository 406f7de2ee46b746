"""Extracts the fields of a receipt from OCR output with very simple rules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from portal.facts import read_value
from sample.generator.content import content

# The words before a value, of all languages, by the field that the value belongs to.
_FIELDS = {
    "number": "invoice_number",
    "tax_number": "tax_number",
    "time": "orig_invoice_time",
    "departure": "departure",
    "arrival": "arrival",
    "start": "orig_start_time",
    "arrive": "orig_start_time",
    "end": "orig_end_time",
    "leave": "orig_end_time",
}
_TIMES = ("start", "end", "invoice")
_AMOUNT = re.compile(r"(?P<name>.*\S)\s+\D{0,3}(?P<amount>\d[\d., ]*\d)\s*\D{0,4}")
_SIGNS = {"£": "GBP", "€": "EUR", "$": "USD", "Rp": "IDR", "¥": "JPY", "₩": "KRW"}


def read_receipt(text: str) -> dict[str, Any]:
    """The fields that the rules find; `type` is always `other`, which is most receipts."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fields: dict[str, Any] = {"type": "other", "seller_name": lines[0] if lines else ""}
    for line in lines:
        fields |= {field: value for field, value in _labelled(line) if field not in fields}
    for name in _TIMES:
        standard = read_value(fields.get(f"orig_{name}_time", ""), "Date").value
        if standard:
            fields[f"std_{name}_time"] = standard
    return fields | _money(lines)


def _labelled(line: str) -> Iterator[tuple[str, str]]:
    label, colon, value = line.partition(":")
    field = _labels().get(label.strip().lower())
    if colon and field and value.strip():
        yield field, value.strip()


def _labels() -> Mapping[str, str]:
    """Field by word. A word that means two things, as Spanish `Salida` does, is the first."""
    labels: dict[str, str] = {}
    for words in content("receipts")["words"].values():
        for key, field in _FIELDS.items():
            labels.setdefault(words[key].lower(), field)
    return labels


def _money(lines: list[str]) -> dict[str, Any]:
    """Lines that end in an amount: the purchased items, up to the total."""
    totals = {words["total"].lower() for words in content("receipts")["words"].values()}
    detail: list[dict[str, Any]] = []
    for line in lines:
        found = _AMOUNT.fullmatch(line)
        if found is None or ":" in line:
            continue
        if found["name"].lower() in totals:
            amount = found["amount"]
            sign = next((sign for sign in _SIGNS if sign in line), "")
            currency = {"orig_curr": [sign], "std_curr": _SIGNS[sign]} if sign else {}
            return {
                "orig_total": amount,
                "std_total": _standard(amount),
                "detail": detail,
                **currency,
            }
        amount = _standard(found["amount"])
        detail.append({"content": found["name"], "amount": amount, "ifTax": False})
    return {"detail": detail}


def _standard(amount: str) -> str:
    """A comma before the last two digits is a decimal mark."""
    plain = amount.replace(" ", "")
    return re.sub(r",(\d\d)$", r".\1", plain.replace(".", "")) if "," in plain[-3:] else plain
