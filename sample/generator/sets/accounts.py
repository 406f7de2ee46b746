"""Annual accounts for the document accuracy of financial statements."""

from collections.abc import Mapping, Sequence
from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw, grouped
from sample.generator.layout import FONTS, notice
from sample.generator.markup import plain, table, td, tr

from .base import DEV, Line, Picture, Question, Reading, SampleSet, document, json_lines

WIDTH = 620
FUNDS_LEFT_OVER = "Other equity"
SHARES = 250  # lakhs of shares

Entry = Mapping[str, Any]
Rows = Sequence[tuple[str, int]]
Statements = dict[str, list[tuple[str, int]]]


def accounts_set() -> SampleSet:
    accounts = content("accounts")["accounts"]
    questions = [_question(entry) for entry in accounts]
    meta = [
        {
            "id": entry["id"],
            "doc_type": "financial_statement",
            "company": entry["company"],
            "form_type": "Annual accounts",
            "fiscal_year": str(entry["year"]),
            "licence": "CC0-1.0",
            "sample": True,
        }
        for entry in accounts
    ]
    pages = {f"pages/{each.gold['id']}.html": each.pictures[0].html for each in questions}
    return SampleSet(
        benchmark="findoc",
        pictures=tuple(question.pictures[0] for question in questions),
        questions=questions,
        source={**pages, "meta.jsonl": json_lines(meta)},
        read=_read,
        how="Text unchanged.",
    )


def statements(entry: Entry) -> Statements:
    """The lines of each statement with their totals. Other equity balances both sides of the
    balance sheet, and the change of cash is the sum of the flows."""
    draw = Draw(entry["id"])
    drawn = {
        name: [(label, draw.between(low, high)) for label, low, high in lines]
        for name, lines in content("accounts")["statements"].items()
    }
    assets, funds = (_total(drawn[name]) for name in ("assets", "funds"))
    profit = _total(drawn["income"]) - _total(drawn["expenses"])
    return {
        "Balance Sheet": [
            *drawn["assets"],
            ("Total assets", assets),
            *drawn["funds"],
            (FUNDS_LEFT_OVER, assets - funds),
            ("Total equity and liabilities", assets),
        ],
        "Statement of Profit and Loss": [
            *drawn["income"],
            ("Total income", _total(drawn["income"])),
            *drawn["expenses"],
            ("Total expenses", _total(drawn["expenses"])),
            ("Profit for the year" if profit >= 0 else "Loss for the year", profit),
        ],
        "Cash Flow Statement": [
            *drawn["flows"],
            ("Net change in cash", _total(drawn["flows"])),
        ],
    }


def _total(lines: Rows) -> int:
    return sum(figure for _, figure in lines)


def per_share(entry: Entry) -> str:
    """Earnings per share in rupees: lakhs by lakhs."""
    profit = statements(entry)["Statement of Profit and Loss"][-1][1]
    return _money(profit * 100 // SHARES, 2)


def _money(figure: int, places: int = 0) -> str:
    return f"({grouped(figure, places)})" if figure < 0 else grouped(figure, places)


def gold(entry: Entry) -> Line:
    """The expected answer: the lines of the statements with their printed amounts."""
    return {
        "company": entry["company"],
        "statements": [
            {
                "title": title,
                "lines": [{"item": label, "amount": _money(figure)} for label, figure in lines],
            }
            for title, lines in statements(entry).items()
        ],
        "earnings_per_share": per_share(entry),
    }


def _question(entry: Entry) -> Question:
    picture = Picture(f"source/images/{entry['id']}.png", _page(entry), WIDTH)
    return Question({"id": entry["id"], "gold": gold(entry)}, DEV, (picture,))


def _page(entry: Entry) -> str:
    """The auditor's words, the three statements, and the earnings per share."""
    texts = content("accounts")["texts"]
    found = statements(entry)
    is_profit = found["Statement of Profit and Loss"][-1][1] >= 0
    told = {
        "company": plain(entry["company"]),
        "year": entry["year"],
        "town": entry["town"],
        "result": "profit" if is_profit else "loss",
    }
    head = (
        f'<p style="margin:0;text-align:center;font-size:14pt;font-weight:bold">'
        f"{told['company']}</p>\n"
        f'<p style="margin:0 0 8px;text-align:center">Amounts in ₹ lakhs</p>\n'
        f"<p>{texts['auditor'].format(**told)}</p>\n"
    )
    blocks = "".join(_statement(title, entry["year"], found[title]) for title in found)
    share = f"<p>Earnings per equity share: ₹ {per_share(entry)}</p>\n"
    foot = f"<p>{texts['note'].format(**told)}</p>\n{notice()}"
    style = f"font:{entry['size']}pt {FONTS[entry['font']]};line-height:1.3;"
    return document(head + blocks + share + foot, width=WIDTH, style=style)


def _statement(title: str, year: int, lines: Rows) -> str:
    when = "as at" if title == "Balance Sheet" else "for the year ended"
    heading = f'<p style="margin:10px 0 2px;font-weight:bold">{title} {when} March 31, {year}</p>\n'
    rows = [
        tr([td(plain(label)), td(_money(figure), "text-align:right")], _rule(label))
        for label, figure in lines
    ]
    return heading + table(rows, "width:100%;border-collapse:collapse")


def _rule(label: str) -> str:
    is_total = label.startswith(("Total", "Profit", "Loss", "Net change"))
    return "border-top:1px solid #404040;font-weight:bold" if is_total else ""


def _read(question: Question, reading: Reading) -> Line:
    return {"id": question.gold["id"], "text": reading.text}
