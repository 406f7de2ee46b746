"""Gold without facts as texts, tables and JSON."""

from portal.datasets.disputes.gold_view import (
    LONGEST_LINE,
    GoldTable,
    GoldTexts,
    gold_json,
    gold_parts,
)

LINE = {
    "id": "a",
    "gold": {
        "company": "Acme",
        "statements": [
            {"title": "Assets", "lines": [{"item": "Cash", "amount": "1"}, {"item": "Total"}]},
        ],
        "notes": ["one", 2, None],
        "audited": True,
    },
}


def test_objects_are_named_and_flat_lists_of_objects_are_tables() -> None:
    assert gold_parts(LINE) == [
        GoldTexts((("company", "Acme"), ("Statement 1 › title", "Assets"))),
        GoldTable("Statement 1 › lines", ("item", "amount"), (("Cash", "1"), ("Total", ""))),
        GoldTexts((("notes", "one\n2\n"), ("audited", "true"))),
    ]


def test_lists_and_objects_that_are_empty_or_mixed_are_texts() -> None:
    gold = {"id": "a", "empty": [], "none": {}, "mixed": [1, {"b": 2}], "lists": [[1], [2]]}
    assert gold_parts(gold) == [
        GoldTexts(
            (("empty", ""), ("none", "{}"), ("mixed", '[1, {"b": 2}]'), ("lists", "[[1], [2]]"))
        )
    ]


def test_json_keeps_short_objects_in_one_line() -> None:
    assert gold_json({"id": "a", "rows": [{"n": 1}]}) == '{"id": "a", "rows": [{"n": 1}]}'
    assert '    "notes": ["one", 2, null],' in gold_json(LINE).splitlines()


def test_long_gold_is_cut_and_has_no_parts() -> None:
    gold = {"id": "a", "answer": "x" * LONGEST_LINE}
    assert gold_parts(gold) == []
    assert gold_json(gold).endswith("\n…")
