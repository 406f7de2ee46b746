"""The sample pages add up: the tests compute every total again from the shipped page.

A formula uses the labels of the page. `A ...` is the sum of the rows from A to the row before the
total. `A ... B` is the sum of the rows from A to B. ` + ` and ` - ` join terms.
"""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from tests.many import together
from tests.sample.pages import Row, find, rows

TERM = re.compile(r"(?:^| ([+-]) )(.+?)(?=$| [+-] )")

# Page, innermost table (None: all), formula, columns (None: all columns with a total).
FORMULAS: list[tuple[str, int | None, str, tuple[int, ...] | None]] = [
    ("sample-fs-01", None, "Total current assets = Current assets: ...", None),
    ("sample-fs-01", None, "Total assets = Total current assets ...", None),
    ("sample-fs-01", None, "Total current liabilities = Current liabilities: ...", None),
    ("sample-fs-01", None, "Total liabilities = Total current liabilities ...", None),
    ("sample-fs-01", None, "Total stockholders’ equity = Stockholders’ equity: ...", None),
    (
        "sample-fs-01",
        None,
        "Total liabilities and stockholders’ equity = "
        "Total liabilities + Total stockholders’ equity",
        None,
    ),
    (
        "sample-fs-01",
        None,
        "Total liabilities and stockholders’ equity = Total assets",
        None,
    ),
    ("sample-fs-02", None, "Gross profit = Net sales - Cost of goods sold", None),
    ("sample-fs-02", None, "Total operating expenses = Operating expenses: ...", None),
    ("sample-fs-02", None, "Operating income = Gross profit - Total operating expenses", None),
    ("sample-fs-02", None, "Income before income taxes = Operating income ...", None),
    (
        "sample-fs-02",
        None,
        "Net income = Income before income taxes - Provision for income taxes",
        None,
    ),
    ("sample-fs-03", None, "Net cash provided by operating activities = Net income ...", None),
    (
        "sample-fs-03",
        None,
        "Net cash used in investing activities = Cash flows from investing activities: ...",
        None,
    ),
    (
        "sample-fs-03",
        None,
        "Net cash used in financing activities = Cash flows from financing activities: ...",
        None,
    ),
    (
        "sample-fs-03",
        None,
        "Net change in cash, cash equivalents and restricted cash = "
        "Net cash provided by operating activities + Net cash used in investing activities + "
        "Net cash used in financing activities",
        None,
    ),
    (
        "sample-fs-03",
        None,
        "Cash, cash equivalents and restricted cash, end of period = "
        "Net change in cash, cash equivalents and restricted cash + "
        "Cash, cash equivalents and restricted cash, beginning of period",
        None,
    ),
    ("sample-fs-04", 0, "Segment sales = External sales ...", None),
    ("sample-fs-04", 1, "Segment sales = External sales ...", None),
    ("sample-fs-04", 2, "Total = United Kingdom ...", (1, 2, 4)),
    ("sample-fs-05", 0, "Balance, December 31, 2023 = Balance, December 31, 2022 ...", None),
    ("sample-fs-05", 0, "Balance, December 31, 2024 = Balance, December 31, 2023 ...", None),
    ("sample-fs-05", 0, "Balance, December 31, 2025 = Balance, December 31, 2024 ...", None),
    *(
        ("sample-fs-06", table, formula, None)
        for table in (0, 1)
        for formula in (
            "Total revenue = Collaboration revenue ...",
            "Total operating expenses = Research and development ...",
            "Loss from operations = Total revenue - Total operating expenses",
            "Net loss = Loss from operations ...",
        )
    ),
    ("sample-sr-01", None, "Total revenue = Subscription revenue ...", (3, 6)),
    ("sample-sr-02", None, "Non-GAAP gross profit = GAAP gross profit ...", None),
    ("sample-sr-02", None, "Non-GAAP operating income = GAAP operating income ...", None),
    ("sample-sr-02", None, "Non-GAAP net income = GAAP net income ...", None),
    ("sample-sr-03", None, "Total annual fund operating expenses = Management fee ...", None),
    (
        "sample-sr-03",
        None,
        "Total expenses after waiver = "
        "Total annual fund operating expenses + Fee waiver and reimbursement*",
        None,
    ),
    ("sample-sr-04", 1, "Adjusted EBITDA* = Net income ...", None),
    ("sample-sr-05", 3, "Net assets = Common stocks ...", None),
    ("sample-sr-06", 0, "Total = Month-to-month ...", (1, 2, 3, 4, 5)),
    (
        "sample-sr-06",
        3,
        "Total / weighted average (2) = Revolving credit facility ...",
        (3, 4),
    ),
    ("sample-tf-01", None, "8 = 1 ...", None),
    ("sample-tf-01", None, "12 = 9 ...", None),
    ("sample-tf-01", None, "13 = 8 - 12", None),
    ("sample-tf-01", None, "16 = 14 - 15", None),
    ("sample-tf-01", None, "19 = 17 + 18", None),
    ("sample-tf-01", None, "20 = 19 - 16", None),
    ("sample-tf-03", None, "12 = 8 ...", None),
    ("sample-tf-03", None, "18 = 13 ...", None),
    ("sample-tf-03", None, "19 = 12 - 18", None),
    ("sample-tf-03", None, "22 = 20 - 21", None),
    ("sample-tf-04", None, "Totals = Kiln no. 3 and controls ...", None),
    ("sample-tf-04", None, "18 = 15 ...", None),
    ("sample-tf-05", 2, "Totals = 120 sh. Brindlecairn Semiconductor ...", None),
    ("sample-tf-05", 3, "Totals = 75 sh. Carrowmoor Rail ...", None),
    ("sample-tf-05", None, "10 = 7 ...", None),
    ("sample-tf-06", None, "14 = 1 ... 11 - 12 - 13", None),
    ("sample-tf-06", None, "Ending capital account = Beginning capital account ...", None),
    ("sample-st-02", None, "Total value = Abbotscliff Bearings Inc ...", None),
    ("sample-st-05", None, "Closing cash balance = Opening cash balance ...", None),
    ("sample-st-06", 0, "Total = April 1, 2026 – April 30, 2026 ...", (1, 3)),
    ("sample-fl-02", 1, "Total = Bank of Cairnhollow, N.A. ...", None),
    ("sample-fl-03", 0, "Total = Common stock, $0.001 par value(1) ...", None),
    ("sample-fl-03", 0, "Net fee due = Total - Fees paid earlier", None),
    ("sample-fl-03", 2, "Total = Registration fee ...", None),
    ("sample-fl-04", 0, "Total = Larkmoor Securities LLC ...", None),
    (
        "sample-fl-04",
        1,
        "Proceeds, before expenses = Public offering price - Underwriting discount",
        None,
    ),
]


@together("page_id table formula columns", FORMULAS)
def test_total_is_the_sum_of_its_rows(
    page_id: str, table: int | None, formula: str, columns: tuple[int, ...] | None
) -> None:
    found = rows(page_id, table)
    label, _, right = formula.partition(" = ")
    start = find(found, right.split(" ...")[0].split(" + ")[0].split(" - ")[0])
    place = find(found, label, start) if " ..." in right else find(found, label)
    total = {n: v for n, v in found[place].values.items() if columns is None or n in columns}
    terms = list(signed_rows(found, right, place))
    assert total
    for column, value in total.items():
        computed = sum((sign * row.values.get(column, 0) for sign, row in terms), Decimal(0))
        assert computed == value, f"column {column}"


def signed_rows(found: list[Row], right: str, place: int) -> Iterator[tuple[int, Row]]:
    """Yields the rows on the right side of a formula with signs; `place` is the total's row."""
    for sign, term in TERM.findall(right):
        first, dots, last = term.partition(" ...")
        start = find(found, first)
        end = start + 1
        if dots:
            end = find(found, last.strip(), start) + 1 if last.strip() else place
        for row in found[start:end]:
            yield (-1 if sign == "-" else 1), row


def test_segment_columns_add_up_to_the_group() -> None:
    for table in (0, 1):
        for row in rows("sample-fs-04", table):
            if row.values and row.label != "Operating margin":
                *parts, group = (row.values[column] for column in sorted(row.values))
                assert sum(parts) == group, row.label


def test_equity_columns_add_up_without_the_share_count() -> None:
    for row in rows("sample-fs-05", 0)[1:]:
        _, *parts, total = (row.values[column] for column in sorted(row.values))
        assert sum(parts) == total, row.label


def test_four_quarters_add_up_to_the_year() -> None:
    for table in (0, 1):
        for row in rows("sample-fs-06", table):
            if row.values and "share" not in row.label:
                *quarters, year = (row.values[column] for column in sorted(row.values))
                assert sum(quarters) == year, row.label


def test_earnings_per_share_follow_from_net_income() -> None:
    found = rows("sample-fs-02", 0)
    income = found[find(found, "Net income")].values
    eps, shares = (found[n].values for n, row in enumerate(found) if row.label == "Diluted")
    for column, value in eps.items():
        assert (income[column] / shares[column]).quantize(Decimal("0.01"), ROUND_HALF_UP) == value


def test_insider_holdings_run_on() -> None:
    trades = [
        row for row in rows("sample-st-01") if row.label == "Common Stock" and 3 in row.values
    ]
    balances = [row.values[6] for row in trades]
    for before, after, row in zip(balances, balances[1:], trades[1:], strict=False):
        assert abs(after - before) == row.values[3]
    assert len(trades) == 6


def test_voting_authority_adds_up_to_the_shares() -> None:
    positions = [row.values for row in rows("sample-st-02") if 4 in row.values]
    assert len(positions) == 28
    for values in positions:
        assert values[4] == values[7] + values[8] + values[9]


def test_tendered_shares_cumulate() -> None:
    running = Decimal(0)
    for row in rows("sample-st-03")[1:]:
        running += row.values[1]
        assert row.values[2] == running


def test_holdings_add_up_to_the_summary() -> None:
    found = rows("sample-sr-05", 0) + rows("sample-sr-05", 1)
    positions = [row.values[2] for row in found if row.label and 2 in row.values]
    bonds = [row.values[2] for row in rows("sample-sr-05", 2) if row.label and 2 in row.values]
    summary = {row.label: row.values.get(1) for row in rows("sample-sr-05", 3)}
    assert sum(positions) == summary["Common stocks"]
    assert sum(bonds) == summary["Corporate bonds"]


def test_net_of_bond_trades_includes_accrued_interest() -> None:
    trades = rows("sample-st-05", 2)[1:]
    assert len(trades) == 5
    for label, values in trades:
        assert values[7] == (values[4] + values[5]) * (-1 if label == "Bought" else 1)


def test_net_of_share_trades_includes_the_commission() -> None:
    trades = rows("sample-st-05", 3)[1:]
    assert len(trades) == 3
    for label, values in trades:
        assert values[7] == (-values[4] if label == "Bought" else values[4]) - values[5]


def test_bond_principal_follows_from_the_fractional_price() -> None:
    """101 1/8 percent of $250,000."""
    net = rows("sample-st-05", 2)[1].values
    assert net[2] == 250_000
    assert net[4] == Decimal(250_000) * (101 + Decimal(1) / 8) / 100


def test_repayment_schedule_runs_to_zero() -> None:
    instalments = [row.values for row in rows("sample-fl-06") if row.label.isdigit()]
    balance = Decimal("48000000.00")
    for values in instalments:
        assert values[2] == balance
        interest = (balance * Decimal("0.0584") / 4).quantize(Decimal("0.01"), ROUND_HALF_UP)
        assert values[4] == interest
        assert values[5] == values[3] + interest
        balance -= values[3]
        assert values[6] == balance
    assert balance == 0
    assert len(instalments) == 20
