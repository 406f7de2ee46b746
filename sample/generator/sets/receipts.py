"""Receipts and tickets for ReceiptBench: 19 fields each, in ten languages."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw
from sample.generator.markup import plain, table, td, tr

from .base import Line, Picture, Question, Reading, SampleSet, document
from .receipt_rules import read_receipt
from .simulated import misread

WIDTH = 380
# Kinds of receipts with origin and destination, or start and end.
JOURNEYS = ("plane", "train", "ship", "bus", "taxi", "metro")
# Errors in the delivered records.
SLIPS = "slips"

Receipt = Mapping[str, Any]


def receipt_set() -> SampleSet:
    receipts = content("receipts")["receipt"]
    pictures = {receipt["id"]: _picture(receipt) for receipt in receipts}
    questions = [
        Question(gold_line(receipt), receipt["split"], (pictures[receipt["id"]],))
        for receipt in receipts
        if receipt["delivery"] == 1
    ]
    return SampleSet(
        benchmark="receiptbench",
        pictures=tuple(pictures.values()),
        questions=questions,
        source={_folder(receipt, ".json"): record_json(receipt) for receipt in receipts},
        read=_read,
        how="Simple rules find the fields in the text, by the words before a number or date and "
        "the sign next to an amount.",
        simulate=_simulated,
        beside={"slips.json": slips_json(receipts)},
    )


def slips_json(receipts: Sequence[Receipt]) -> str:
    """Corrections of the inspector: the right value by receipt and field."""
    slips = {
        receipt["id"]: {field: fields(receipt)[field] for field in receipt[SLIPS]}
        for receipt in receipts
        if SLIPS in receipt
    }
    return json.dumps(slips, ensure_ascii=False, indent=1) + "\n"


def gold_line(receipt: Receipt) -> Line:
    return {
        "id": receipt["id"],
        "language": receipt["language"],
        "fields": fields(receipt),
    }


def record_json(receipt: Receipt) -> str:
    """The delivered record, with its errors, if it has any."""
    line = gold_line(receipt)
    line["fields"] |= receipt.get(SLIPS, {})
    return json.dumps(line, ensure_ascii=False, indent=1) + "\n"


def fields(receipt: Receipt) -> Line:
    """The 19 fields, from the same values as the image. Missing fields are empty."""
    total = sum(amount for _, amount in _lines(receipt))
    sign = _currency(receipt)[0]
    town = f"{receipt['country']}-{receipt['town']}"
    is_journey = receipt["type"] in JOURNEYS
    return {
        "type": receipt["type"],
        **_times(receipt),
        "place": "" if is_journey else town,
        "departure": receipt.get("departure", ""),
        "arrival": receipt.get("arrival", ""),
        "orig_curr": [sign],
        "std_curr": receipt["currency"],
        "orig_total": written(receipt, total),
        "std_total": standard(receipt, total),
        "detail": [
            {"content": name, "amount": standard(receipt, amount), "ifTax": is_tax}
            for is_tax, part in ((False, "items"), (True, "taxes"))
            for name, amount in receipt.get(part, [])
        ],
        "seller_name": receipt["seller"],
        "seller_address": town,
        "invoice_number": receipt["number"],
        "tax_number": receipt.get("tax_number", ""),
    }


def _times(receipt: Receipt) -> Line:
    """Each time as it is printed, and in the standard form."""
    times: Line = {}
    for name, key in (("start", "start"), ("end", "end"), ("invoice", "time")):
        printed, standard_form = receipt.get(key, ("", ""))
        times |= {f"orig_{name}_time": printed, f"std_{name}_time": standard_form}
    return times


def _lines(receipt: Receipt) -> list[tuple[str, int]]:
    return [(name, amount) for name, amount in (*receipt["items"], *receipt.get("taxes", []))]


def _currency(receipt: Receipt) -> tuple[str, bool, int]:
    sign, stands_before, places = content("receipts")["currencies"][receipt["currency"]]
    return sign, stands_before, places


def written(receipt: Receipt, amount: int) -> str:
    """An amount without its sign, as the receipt's language writes it.

    >>> written({"language": "de", "currency": "EUR"}, 123450)
    '1.234,50'
    """
    decimal, thousands = content("receipts")["words"][receipt["language"]]["marks"]
    return standard(receipt, amount, decimals=_currency(receipt)[2]).translate(
        {ord(","): thousands, ord("."): decimal}
    )


def standard(receipt: Receipt, amount: int, *, decimals: int = 2) -> str:
    """An amount as `1,234.50`; currencies without cents get two zeros by default."""
    places = _currency(receipt)[2]
    whole, rest = divmod(amount, 10**places)
    return f"{whole:,}.{rest:0{decimals}d}" if decimals else f"{whole:,}"


def _folder(receipt: Receipt, suffix: str) -> str:
    return f"delivery-{receipt['delivery']}/{receipt['id']}{suffix}"


def _picture(receipt: Receipt) -> Picture:
    """The receipt: the seller, the items, the total, the numbers."""
    words = content("receipts")["words"][receipt["language"]]
    sign, stands_before, _ = _currency(receipt)

    def money(amount: int) -> str:
        figure = written(receipt, amount)
        return f"{sign}{figure}" if stands_before else f"{figure} {sign}"

    head = "".join(
        f'<p style="margin:0;text-align:center;{style}">{plain(text)}</p>\n'
        for text, style in (
            (receipt["seller"], "font-weight:bold;font-size:13pt"),
            (receipt["street"], ""),
            (f"{receipt['town']}, {receipt['country']}", ""),
        )
    )
    sold = [_row(name, money(amount)) for name, amount in _lines(receipt)]
    total = _row(words["total"], money(sum(amount for _, amount in _lines(receipt))), bold=True)
    thanks = f'<p style="margin:10px 0 0;font-size:8pt;text-align:center">{words["thanks"]}</p>\n'
    body = head + _block(_about(receipt, words)) + _block([*sold, total]) + thanks
    return Picture(f"source/{_folder(receipt, '.png')}", document(body, width=WIDTH), WIDTH)


def _about(receipt: Receipt, words: Mapping[str, str]) -> list[str]:
    """The rows of numbers, times and places, each behind its word."""
    begin, end = ("arrive", "leave") if receipt["type"] == "hotel" else ("start", "end")
    told = (
        (words["number"], receipt["number"]),
        (words["tax_number"], receipt.get("tax_number")),
        (words["time"], receipt["time"][0]),
        (words["departure"], receipt.get("departure")),
        (words["arrival"], receipt.get("arrival")),
        (words[begin], receipt.get("start", [None])[0]),
        (words[end], receipt.get("end", [None])[0]),
    )
    return [_row(f"{word}:", value) for word, value in told if value]


def _row(name: str, value: str, *, bold: bool = False) -> str:
    weight = "font-weight:bold;" if bold else ""
    return tr([td(plain(name), weight), td(plain(value), f"{weight}text-align:right")])


def _block(rows: list[str]) -> str:
    return table(rows, "width:100%;margin-top:10px;border-top:1px dashed #404040;padding-top:6px")


def _read(question: Question, reading: Reading) -> Line:
    return {"id": question.gold["id"], "fields": read_receipt(reading.text)}


def _simulated(question: Question, errors: int, seed: str) -> Line:
    draw = Draw(f"{seed}/{question.gold['id']}")
    return {"id": question.gold["id"], "fields": misread(question.gold["fields"], draw, errors)}
