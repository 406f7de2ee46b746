import json
from typing import Any

import pytest
from hypothesis import strategies as st

from portal.datasets.acceptance.records import (
    Schema,
    SchemaError,
    raw_schema,
    read_amount,
    read_schema,
    validate_record,
)
from scoring.metrics.receipts import FIELDS
from tests.counting import LINEAR, growth
from tests.many import drawn, together

RECEIPT: dict[str, Any] = {
    "type": "hotel",
    "orig_start_time": "14 Mar 25",
    "orig_end_time": "16 Mar 25",
    "orig_invoice_time": "",
    "std_start_time": "2025-03-14",
    "std_end_time": "2025-03-16",
    "std_invoice_time": "",
    "place": "UK-London",
    "departure": "",
    "arrival": "",
    "orig_curr": ["£", "London"],
    "std_curr": "GBP",
    "orig_total": "1,234.50",
    "std_total": "1,234.50",
    "detail": [
        {"content": "Room", "amount": "1,100.00", "ifTax": False},
        {"content": "Tax", "amount": 184.5, "ifTax": True},
        {"content": "Voucher", "amount": "(50.00)", "ifTax": False},
    ],
    "seller_name": ["Hill House"],
    "seller_address": "UK-London",
    "invoice_number": "0042",
    "tax_number": "",
}
RECEIPTS = read_schema(raw_schema("receipts"))


def faults(changes: dict[str, Any], schema: Schema = RECEIPTS) -> list[tuple[str, str]]:
    return [fault[:2] for fault in validate_record({**RECEIPT, **changes}, schema)]


def test_right_receipt_has_no_faults() -> None:
    assert validate_record(RECEIPT, RECEIPTS) == []


def test_receipts_have_the_fields_of_the_benchmark() -> None:
    assert sorted(RECEIPTS.names) == sorted(rule.name for rule in FIELDS)
    assert len(RECEIPTS.names) == 19


@together(
    "changes expected",
    [
        ({"type": "hostel"}, [("type", "choice")]),
        ({"type": " "}, [("type", "empty")]),
        ({"type": 5}, [("type", "kind")]),
        ({"std_start_time": "14/03/2025"}, [("std_start_time", "date")]),
        ({"std_start_time": "2025-02-30"}, [("std_start_time", "date")]),
        ({"std_start_time": "2025-03-17"}, [("std_end_time", "order")]),
        ({"std_start_time": "2025-03-16"}, []),
        ({"std_invoice_time": "2025-03-16"}, [("std_invoice_time", "evidence")]),
        ({"std_curr": "£"}, [("std_curr", "form")]),
        ({"orig_curr": "£"}, [("orig_curr", "kind")]),
        ({"orig_curr": ["£", 3]}, [("orig_curr", "kind")]),
        ({"orig_total": "1.234,50"}, []),
        ({"orig_total": "12,90"}, []),
        ({"orig_total": "12,9,0"}, [("orig_total", "number")]),
        ({"orig_total": "about 10"}, [("orig_total", "number")]),
        ({"std_total": "1234.50"}, [("std_total", "form")]),
        ({"std_total": 1234.5}, [("std_total", "form")]),
        ({"std_total": "1,234.55"}, []),
        ({"std_total": "1,234.56"}, [("std_total", "sum")]),
        ({"std_total": ""}, []),
        ({"detail": []}, []),
        ({"detail": {}}, []),
        ({"detail": "none"}, [("detail", "kind")]),
        ({"detail": ["Room"]}, [("detail", "kind")]),
        ({"detail": [{"content": "Room", "amount": "x", "ifTax": False}]}, [("detail", "number")]),
        (
            {"detail": [{"content": "Room", "amount": "1"}]},
            [("detail", "absent"), ("std_total", "sum")],
        ),
        (
            {"detail": [{"content": "All", "amount": "1,234.50", "ifTax": "no"}]},
            [("detail", "kind")],
        ),
        (
            {"detail": [{"content": "All", "amount": "1,234.50", "ifTax": None, "tip": 1}]},
            [("detail", "unknown")],
        ),
        ({"seller_name": ["Hill House", 7]}, [("seller_name", "kind")]),
        ({"place": ["UK-London"]}, [("place", "kind")]),
        ({"tip": "1"}, [("tip", "unknown")]),
    ],
)
def test_faults_by_field(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert faults(changes) == expected


def test_messages_name_item_and_value() -> None:
    record = {**RECEIPT, "detail": [{"content": "Room", "amount": "ten", "ifTax": False}]}
    (fault,) = validate_record(record, RECEIPTS)
    assert fault.message == 'detail, item 1: amount is "ten", which is not a number'
    (fault,) = validate_record({**RECEIPT, "std_total": "1,300.00"}, RECEIPTS)
    assert fault.message == "the items in detail add up to 1,234.50, but std_total is 1,300.00"


def test_missing_key_is_a_fault_and_a_list_is_no_record() -> None:
    record = {name: value for name, value in RECEIPT.items() if name != "place"}
    assert [fault[:2] for fault in validate_record(record, RECEIPTS)] == [("place", "absent")]
    assert [fault.code for fault in validate_record([], RECEIPTS)] == ["kind"]


@pytest.mark.parametrize(
    "value", [True, None, [], "1/3", "NaN", float("nan"), float("inf"), "9" * 41, 1e308]
)
def test_invalid_amounts(value: Any) -> None:
    assert read_amount(value) is None


def test_number_too_long_to_be_written_out_is_no_amount() -> None:
    assert read_amount(10**5000) is None
    assert faults({"orig_total": 10**5000}) == [("orig_total", "number")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


# Without a deadline: the time of one example depends on the load of the machine.
@drawn(st.dictionaries(st.sampled_from([*RECEIPTS.names, "other"]), json_values), examples=150)
def test_any_record_gets_its_faults(record: dict[str, Any]) -> None:
    found = validate_record(record, RECEIPTS)
    known = {*RECEIPTS.names, "other"}
    assert {fault.field for fault in found} <= known
    absent = {
        fault.field for fault in found if fault.code == "absent" and "item" not in fault.message
    }
    assert absent >= set(RECEIPTS.names) - set(record)
    json.dumps(found)


def test_work_grows_with_the_items_alone() -> None:
    item = {"content": "Room", "amount": "1.00", "ifTax": False}
    assert growth(lambda n: validate_record({"detail": [item] * n}, RECEIPTS), 200) <= LINEAR


def test_any_schema_of_plain_fields() -> None:
    schema = read_schema([{"name": "year", "form": "year"}, {"name": "pages", "kind": "number"}])
    record = {"year": "1899", "pages": "12"}
    assert [fault[:2] for fault in validate_record(record, schema)] == [("year", "form")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("x", "schema: must be an object"),
        ([], "fields: there must be at least one field"),
        ({"fields": [{"name": "a"}], "rules": []}, "rules: unknown key"),
        ([{"name": ""}], r"fields\[0\].name: must not be empty"),
        ([{"name": "a"}, {"name": "a"}], "fields: a occurs twice"),
        ([{"name": "a", "kind": "blob"}], r"fields\[0\].kind: Input should be 'text'"),
        ([{"name": "a", "requird": True}], r"fields\[0\].requird: unknown key"),
        ([{"name": "a", "required": 1}], r"fields\[0\].required: must be true or false"),
        ([{"name": "a", "form": "(a+)+"}], r"fields\[0\].form: must be one of currency"),
        ([{"name": "a", "choices": [1]}], r"fields\[0\].choices\[0\]: must be text"),
        ([{"name": "a", "items": [{"name": "b"}]}], r"fields\[0\]: only a list has items"),
        ([{"name": "a", "kind": "list", "items": []}], r"fields\[0\].items: there must be"),
        ([{"kind": "list"}], r"fields\[0\].name: this key is required"),
        ({"fields": {}}, "fields: must be a list"),
        ([{"name": "a", "evidence": "b"}], "a rule names b, which is not a field"),
        ([{"name": f"f{n}"} for n in range(201)], "fields: has more than 200 entries"),
        (
            {"fields": [{"name": "a"}], "sums": [{"items": "a", "amount": "b", "total": "c"}]},
            "a rule needs a to be a list, not a text",
        ),
        (
            {"fields": [{"name": "a"}], "orders": [{"first": "a", "last": "a"}]},
            "a rule needs a to be a date",
        ),
        (
            {
                "fields": [{"name": "a"}],
                "sums": [{"items": "a", "amount": "b", "total": "c", "tolerance": "-1"}],
            },
            r"sums\[0\].tolerance: Input should be greater than or equal to 0",
        ),
    ],
)
def test_schema_that_cannot_be_used_is_refused(data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        read_schema(data)
