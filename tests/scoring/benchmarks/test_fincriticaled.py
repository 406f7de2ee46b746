"""FinCriticalED: options, reading, scores, matchers, views, severity, reported rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.benchmarks import BENCHMARKS, GoldLine, OptionError, PredictionLine, check_gold
from scoring.benchmarks.fincriticaled import FINCRITICALED
from scoring.benchmarks.fincriticaled.figures import SEVERITY, type_key
from scoring.benchmarks.fincriticaled.scorer import DOCUMENT_TYPES
from scoring.benchmarks.items import Observation, replicated, resampled_documents
from scoring.benchmarks.options import JUDGE, NAMES, TITLES
from scoring.metrics.facts import ERROR_TYPES, MATCHERS
from scoring.models.gradings import MOST_SIGNATURE

BENCHMARK = BENCHMARKS["fincriticaled"]
DEFAULTS = BENCHMARK.check_options({})
GOLD = {
    "id": "p1",
    "html": (
        "<p>Net loss of <Number>(1,200)</Number> in the year to <Date>May 27, 2021</Date>, "
        "income of <Number>3%</Number></p>"
    ),
}
GOLD_2 = {"id": "p2", "html": "<p>Dividends of <Number>42</Number> were paid</p>"}
PREDICTION = {
    "id": "p1",
    "html": "<p>Net loss of 1,200 in the year to May 27, 2021, income of 3%</p>",
}


def graded(pairs: list[tuple[dict[str, Any], dict[str, Any] | None]], **options: str) -> Any:
    chosen = BENCHMARK.check_options(options)
    results = [BENCHMARK.score_item(gold, prediction, chosen) for gold, prediction in pairs]
    return BENCHMARK.aggregate(results, chosen)


def test_signature_names_every_option() -> None:
    assert BENCHMARK.signature(DEFAULTS) == (
        "fincriticaled|v6|labels:Number,Date|matcher:aligned|unit:beside|text:visible"
        "|text_rules:factboard|missing:zero|severity:4|answer:shown"
    )
    assert "labels:Number,Temporal,MonetaryUnit" in BENCHMARK.signature(
        BENCHMARK.check_options({"labels": "v2"})
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"matchr": "aligned"}, "no option 'matchr'; did you mean matcher"),
        (
            {"matcher": "fuzzy"},
            "option matcher must be aligned, substring, judge",
        ),
        ({"missing": None}, "option missing must be zero or skip, not None"),
        ({"labels": "v3,v 4"}, "cannot be a tag name"),
        ({"labels": "Number,number"}, "occurs twice"),
        ({"labels": ["Table"]}, "name of an HTML element"),
        ({"labels": ["Date", "Temporal"]}, "would share a column"),
        ({"labels": 7}, "must be a label set or a list of labels"),
    ],
)
def test_options_that_make_no_sense(raw: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        BENCHMARK.check_options(raw)


def test_labels_come_as_a_set_a_list_or_a_text() -> None:
    for labels in ("v1", ["Number", "Date"], "Number, Date"):
        assert BENCHMARK.check_options({"labels": labels}) == DEFAULTS


def test_item_result_is_plain_json_with_every_fact() -> None:
    result = BENCHMARK.score_item(GOLD, PREDICTION, DEFAULTS)
    assert json.loads(json.dumps(result)) == result
    assert [
        (f["n"], f["type"], f["value"], f["correct"], f["found"], f["matched_text"], f["error"])
        for f in result["facts"]
    ] == [
        (0, "Number", "(1,200)", False, True, "1,200", "sign"),
        (1, "Date", "May 27, 2021", True, True, "May 27, 2021", None),
        (2, "Number", "3%", True, True, "3%", None),
    ]
    assert result["types"]["Number"] == {"facts": 2, "found": 2, "correct": 1}
    assert result["errors"] == {"sign": 1}


def test_fact_accuracy_sums_over_pages() -> None:
    # 2 of 3 on one page and 0 of 1 on the other: 2/4, not the mean of 2/3 and 0.
    scores = graded([(GOLD, PREDICTION), (GOLD_2, {"id": "p2", "html": "<p>nothing</p>"})])
    assert scores.scores["ffa"] == 0.5
    assert scores.scores["n_ffa"] == pytest.approx(1 / 3)
    assert scores.scores["t_ffa"] == 1
    assert scores.scores["found"] == 0.75
    assert scores.scores["missing_rate"] == 0.25
    assert scores.scores["precision"] == pytest.approx(2 / 3)
    assert scores.scores["err_sign"] == scores.scores["err_missing"] == 0.25
    assert scores.subsets["Number"]["facts"] == 3
    assert scores.counts["correct"] == 2


def test_a_missing_prediction_scores_zero_or_is_left_out() -> None:
    zero = graded([(GOLD, PREDICTION), (GOLD_2, None)])
    skip = graded([(GOLD, PREDICTION), (GOLD_2, None)], missing="skip")
    assert (zero.items, zero.missing) == (skip.items, skip.missing) == (2, 1)
    assert zero.scores["ffa"] == 0.5
    assert skip.scores["ffa"] == pytest.approx(2 / 3)
    assert zero.scores["r1"] == pytest.approx(skip.scores["r1"] / 2)
    assert zero.scores["edit_distance"] == pytest.approx((skip.scores["edit_distance"] + 1) / 2)


def test_scores_of_nothing_are_undefined() -> None:
    scores = graded([(GOLD, None)], missing="skip").scores
    assert set(scores.values()) == {None}
    assert set(scores) == BENCHMARK.figures_for(DEFAULTS).keys()


def test_a_page_without_facts_counts_in_the_text_metrics() -> None:
    plain = {"id": "p3", "html": "<p>no facts here</p>"}
    scores = graded([(plain, plain)]).scores
    assert (scores["r1"], scores["edit_distance"], scores["general"]) == (1, 0, 1)
    assert scores["ffa"] is None
    assert scores["err_sign"] is None


def test_markup_counts_tags_but_not_the_fact_tags() -> None:
    gold = {"id": "p", "html": "<b>x</b><Number>7</Number>"}
    same = {"id": "p", "html": "<b>x</b>7"}
    other = {"id": "p", "html": "<i>x</i>7"}
    assert graded([(gold, same)], text="markup").scores["edit_distance"] == 0
    assert graded([(gold, other)], text="markup").scores["edit_distance"] == pytest.approx(2 / 9)
    assert graded([(gold, other)], text="visible").scores["edit_distance"] == 0


def test_substring_matcher_follows_the_reference() -> None:
    prediction = {"id": "p2", "html": "<p>(42) and 142</p>"}
    assert graded([(GOLD_2, prediction)], matcher="substring").scores["ffa"] == 1
    assert graded([(GOLD_2, prediction)], matcher="aligned").scores["ffa"] == 0


def test_v2_has_an_accuracy_for_each_of_its_types() -> None:
    gold = {
        "id": "p",
        "html": "<p><reportingentity>Adobe Inc.</reportingentity> paid "
        "<MonetaryUnit>$</MonetaryUnit><Number>5</Number> in <Temporal>Q2 2023</Temporal>, its "
        "<FinancialConcept>net loss</FinancialConcept></p>",
    }
    prediction = {"id": "p", "html": "<p>Adobe paid $5 in Q2 2023, its net loss</p>"}
    scores = graded([(gold, prediction)], labels="v2").scores
    keys = ("n_ffa", "t_ffa", "m_ffa", "r_ffa", "fc_ffa", "ffa")
    assert [scores[key] for key in keys] == [1, 1, 1, 0, 1, 0.8]
    assert scores["err_truncated"] == 0.2


def test_columns_follow_the_papers_table() -> None:
    shown = [(c.group, c.label, c.direction) for c in BENCHMARK.columns if c.headline]
    assert shown == [
        ("General", "R1", "up"),
        ("General", "RL", "up"),
        ("General", "E", "down"),
        ("Fact-level", "N-FFA", "up"),
        ("Fact-level", "T-FFA", "up"),
        ("Fact-level", "FFA", "up"),
    ]
    details = {c.key for c in BENCHMARK.columns if not c.headline}
    assert {f"err_{error}" for error in ERROR_TYPES} < details


def test_every_column_has_a_score() -> None:
    for options in ({}, {"labels": "v2"}, {"labels": "Ratio"}):
        chosen = BENCHMARK.check_options(options)
        scores = BENCHMARK.aggregate([BENCHMARK.score_item(GOLD, PREDICTION, chosen)], chosen)
        assert set(scores.scores) == BENCHMARK.figures_for(chosen).keys()


HTML = st.sampled_from(
    [PREDICTION["html"], "", "42 (1,200) 3%", "<p>May 27, 2021", GOLD["html"], "<table><tr><td>7"]
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([GOLD, GOLD_2]), HTML | st.none()), min_size=1), st.randoms()
)
def test_the_order_of_the_pages_changes_nothing(pairs: Any, random: Any) -> None:
    lines = [
        (gold, None if html is None else {"id": gold["id"], "html": html}) for gold, html in pairs
    ]
    shuffled = lines.copy()
    random.shuffle(shuffled)
    assert graded(lines) == graded(shuffled)


def test_gold_is_a_perfect_prediction_of_itself() -> None:
    scores = graded([(GOLD, GOLD), (GOLD_2, GOLD_2)]).scores
    best = {column.key: 1 if column.direction == "up" else 0 for column in BENCHMARK.columns}
    # Neither page states its type.
    stated = {type_key(key): None for key in DOCUMENT_TYPES} | {type_key("other"): 1}
    of_found = {"n_precision": 1, "t_precision": 1}
    assert scores == best | stated | of_found


def test_gold_readers_refuse_unusable_tags_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>\n<Number>1</p>")
    (tmp_path / "b.html").write_text("<p><Number>1</Number></p>")
    lines = list(BENCHMARK.read_gold(tmp_path))
    assert str(lines[0]) == f"{tmp_path}/a.html:2: <Number> is never closed"
    assert isinstance(lines[1], GoldLine)
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "a", "html": "\n</Date>"}))
    assert [str(fault) for fault in check_gold(BENCHMARK.read_gold(path)).faults] == [
        f"{path}:1: in 'html', line 2: </Date> closes nothing"
    ]
    path.write_text(json.dumps({"id": "a", "html": "x" * 400_001}))
    assert [str(fault) for fault in check_gold(BENCHMARK.read_gold(path)).faults] == [
        f"{path}:1: 'html' has more than 400,000 characters of visible text"
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"html": ""}, "has no 'id'"),
        ({"id": "a"}, "has no 'html'"),
        ({"id": 7, "html": ""}, "'id' must be a string, not a number"),
        ({"id": "a", "html": None}, "'html' must be a string, not null"),
        ({"id": "a", "html": ["x"]}, "'html' must be a string, not a list"),
        ({"id": " ", "html": ""}, "'id' must have 1 to 160 printable characters"),
        ({"id": "a\n", "html": ""}, "'id' must have 1 to 160 printable characters"),
        ({"id": "a", "html": "\0"}, "'html' contains a NUL character"),
        ({"id": "a", "html": "x" * 2_000_001}, "'html' is longer than 2,000,000 characters"),
    ],
)
def test_prediction_lines_that_cannot_be_used(
    tmp_path: Path, value: dict[str, object], message: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(value))
    (fault,) = BENCHMARK.read_predictions(path)
    assert str(fault) == f"{path}:1: {message}"


def test_a_prediction_line_is_canonical(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"id": "a", "html": "x", "tokens": 5}))
    (line,) = BENCHMARK.read_predictions(path)
    assert line == PredictionLine("a", {"id": "a", "html": "x"}, str(path), 1)


def test_reported_rows_are_rates_with_their_source() -> None:
    rows = {(row.protocol, row.name): row for row in BENCHMARK.reported}
    assert len(rows) == 20
    best = rows["v1", "GPT-5"]
    assert best.scores == {
        "r1": pytest.approx(0.5737),
        "rl": pytest.approx(0.5665),
        "edit_distance": pytest.approx(0.5047),
        "n_ffa": pytest.approx(0.9146),
        "t_ffa": pytest.approx(0.9569),
        "ffa": pytest.approx(0.9361),
    }
    assert rows["v2", "Claude-Sonnet-4.6"].scores["fc_ffa"] == pytest.approx(0.9894)
    known = {c.key for c in BENCHMARK.columns_for(BENCHMARK.check_options({"labels": "v2"}))}
    for row in rows.values():
        assert row.provenance
        assert row.provenance_url.startswith("https://")
        assert set(row.scores) <= known
        assert all(0 <= score <= 1 for score in row.scores.values())


def test_help_of_an_accuracy_names_its_label_as_the_gold_does() -> None:
    columns = {c.key: c for c in BENCHMARK.columns_for(BENCHMARK.check_options({"labels": "v2"}))}
    assert columns["m_ffa"].help == "Share of MonetaryUnit facts reproduced correctly"


def test_general_rank_of_table_4_follows_from_its_figures() -> None:
    from scoring.metrics.text import general_score

    rows = [row for row in BENCHMARK.reported if row.protocol == "v1"]
    ranked = sorted(
        rows,
        key=lambda row: -general_score(*(row.scores[k] for k in ("r1", "rl", "edit_distance"))),
    )
    assert [row.name for row in ranked[:2]] == ["GPT-4o", "Qwen2.5-VL-72B"]
    assert ranked[-1].name == "MinerU2.5"


def test_every_matcher_has_a_name_to_be_shown() -> None:
    assert {*MATCHERS, JUDGE} == set(NAMES) == set(TITLES)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"matcher": "judge"}, "option matcher must be"),
        ({"matcher": "judge()"}, "option matcher must be"),
        ({"matcher": "judge(a b)"}, "option matcher must be"),
        ({"matcher": "judge(m,facts-0)"}, "with facts-1, facts-paper-1"),
        ({"beside": "judge(m),judge(n)"}, "names a matcher twice, or two judges"),
        ({"beside": "aligned"}, "which is the main matcher"),
        ({"matcher": "judge(m)", "beside": "judge(n)"}, "which is the main matcher"),
        ({"override": "reference"}, "no option 'override'"),
        ({"matcher": "judge(m)", "override": "none"}, "override must be"),
    ],
)
def test_matchers_that_make_no_sense(raw: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        BENCHMARK.check_options(raw)


def test_other_matchers_are_in_the_signature_and_an_unused_option_is_not() -> None:
    assert "|beside:" not in BENCHMARK.signature(BENCHMARK.check_options({}))
    chosen = BENCHMARK.check_options({"beside": " judge(m) , substring"})
    assert chosen["beside"] == "substring,judge(m,facts-1)"
    assert "|beside:substring,judge(m,facts-1)|" in BENCHMARK.signature(chosen)


def test_substring_compared_with_aligned_by_hand() -> None:
    """The prediction has both values, one of them in another row."""
    gold = {
        "id": "a",
        "html": "<table><tr><td>Sales</td><td><Number>12</Number></td></tr>"
        "<tr><td>Costs</td><td><Number>34</Number></td></tr></table>",
    }
    read = {
        "id": "a",
        "html": "<table><tr><td>Sales</td><td>34</td></tr>"
        "<tr><td>Costs</td><td>12</td></tr></table>",
    }
    options = BENCHMARK.check_options({"beside": "substring"})
    result = BENCHMARK.score_item(gold, read, options)
    assert result["beside"] == {"substring": [0, 1]}
    scores = BENCHMARK.aggregate([result], options).scores
    assert (scores["ffa"], scores["ffa_by_substring"]) == (0.0, 1.0)
    assert BENCHMARK.score_item(gold, None, options)["beside"] == {"substring": []}


def test_the_longest_signature_has_room() -> None:
    labels = ",".join(f"L{number:02}".ljust(64, "x") for number in range(20))
    longest = {"labels": labels, "matcher": "aligned", "beside": f"substring,judge({'m' * 100})"}
    signature = BENCHMARK.signature(BENCHMARK.check_options({**longest, "override": "reference"}))
    assert 1_500 < len(signature) <= MOST_SIGNATURE


V2 = FINCRITICALED.check_options({"labels": "v2"})
V2_GOLD = (
    "<p>In <Temporal>2020</Temporal> <ReportingEntity>Acme Ltd</ReportingEntity> earned"
    " <Number>1,200</Number> and lost <Number>350</Number> million"
    " <MonetaryUnit>dollars</MonetaryUnit>.</p>"
)
# The number 350 is wrong, and so is the name: two of three numbers and dates are correct.
V2_PREDICTION = "<p>In 2020 Acne Ltd earned 1,200 and lost 390 million dollars.</p>"


def test_numbers_and_dates_alone_are_counted() -> None:
    result = FINCRITICALED.score_item(
        {"id": "page", "html": V2_GOLD}, {"id": "page", "html": V2_PREDICTION}, V2
    )
    scores = FINCRITICALED.aggregate([result], V2).scores
    assert scores["first_ffa"] == pytest.approx(2 / 3)
    assert scores["ffa"] == pytest.approx(3 / 5)
    assert (scores["n_ffa"], scores["t_ffa"]) == (1 / 2, 1)


def test_numbers_and_dates_have_replicates() -> None:
    """Two of three are correct on the read page, none of three on the missing one."""
    gold, read = {"id": "page", "html": V2_GOLD}, {"id": "page", "html": V2_PREDICTION}
    rows = [
        Observation("one", FINCRITICALED.score_item(gold, read, V2)),
        Observation("two", FINCRITICALED.score_item(gold, None, V2)),
    ]
    weights = resampled_documents(rows, FINCRITICALED.stratum, seed="release")
    found = replicated(
        rows,
        lambda result: FINCRITICALED.contributions(result, V2),
        FINCRITICALED.combined,
        weights,
    )["first_ffa"]
    assert found.value == pytest.approx(2 / 6)
    # Twice the first page, once each, twice the second.
    assert sorted(set(found.values.round(9))) == [0, round(2 / 6, 9), round(2 / 3, 9)]


def test_its_rows_are_those_of_the_first_version() -> None:
    _, view, _ = FINCRITICALED.views_for(V2)
    assert view.key == "first_version"
    assert [column.label for column in view.columns if column.headline] == [
        "R1", "RL", "E", "N-FFA", "T-FFA", "FFA",
    ]  # fmt: skip
    assert {row.protocol for row in view.reported} == {"v1"}
    assert len(view.reported) == 7
    keys = {column.key for column in view.columns}
    assert all(row.scores.keys() <= keys for row in view.reported)
    [row] = [row for row in view.reported if row.name == "DeepSeek-OCR"]
    assert row.scores["first_ffa"] == pytest.approx(0.7715)


@pytest.mark.parametrize("labels", ["v1", "Number", "Number,MonetaryUnit", "Number,Temporal"])
def test_other_boards_have_no_such_table(labels: str) -> None:
    options = FINCRITICALED.check_options({"labels": labels})
    views = FINCRITICALED.views_for(options)
    assert [view.key for view in views] == ["document_types", "found_facts"]
    assert not views[1].reported
    assert "first_ffa" not in FINCRITICALED.aggregate([], options).scores


FIVE = (
    "<p>Acme Corp earned <Number>$1,200</Number> <MonetaryUnit>million</MonetaryUnit> of "
    "<FinancialConcept>net sales</FinancialConcept> in <Temporal>2024</Temporal>, as "
    "<ReportingEntity>Acme Holdings</ReportingEntity> says; before, <Number>310</Number>.</p>"
)


def test_accuracy_of_found_and_of_all_facts_for_all_five_types() -> None:
    """By hand: one number is right and one is not there at all, the unit is misread, the rest is
    right."""
    prediction = (
        "<p>Acme Corp earned $1,200 billion of net sales in 2024, as Acme Holdings says.</p>"
    )
    gold = {"id": "a", "html": FIVE}
    result = FINCRITICALED.score_item(gold, {"id": "a", "html": prediction}, V2)
    scores = FINCRITICALED.aggregate([result], V2).scores
    wanted = {"n": (1, 0.5), "t": (1, 1), "m": (0, 0), "r": (1, 1), "fc": (1, 1)}
    assert {key: (scores[f"{key}_precision"], scores[f"{key}_ffa"]) for key in wanted} == wanted
    # Four of the five facts found, and of all six.
    assert [scores["precision"], scores["ffa"]] == pytest.approx([4 / 5, 4 / 6])
    # Without any prediction nothing is found.
    nothing = FINCRITICALED.aggregate([FINCRITICALED.score_item(gold, None, V2)], V2).scores
    assert {nothing[f"{key}_precision"] for key in wanted} == {None}


def test_rows_of_the_later_release_are_among_found_facts() -> None:
    *_, view = FINCRITICALED.views_for(V2)
    assert view.key == "found_facts"
    assert len(view.reported) == 13
    keys = {column.key for column in view.columns}
    assert all(row.scores.keys() <= keys for row in view.reported)
    [row] = [row for row in view.reported if row.name == "Claude-Sonnet-4.6"]
    assert (row.scores["fc_precision"], row.scores["precision"]) == (0.9894, 0.9723)


OPTIONS = FINCRITICALED.check_options({})


def test_every_error_type_has_a_weight_and_a_reason() -> None:
    assert set(SEVERITY.weights) == set(SEVERITY.reasons) == set(ERROR_TYPES)
    assert all(0 < weight <= 1 for weight in SEVERITY.weights.values())
    assert max(SEVERITY.weights.values()) == 1


def test_a_lost_sign_or_shifted_decimal_weighs_more_than_a_changed_separator() -> None:
    weights = SEVERITY.weights
    assert min(weights["sign"], weights["decimal"]) > weights["separator"]


def test_a_space_weighs_least_of_all() -> None:
    others = [weight for error, weight in SEVERITY.weights.items() if error != "spacing"]
    assert SEVERITY.weights["spacing"] < min(others)


@pytest.mark.parametrize(
    ("errors", "facts", "accuracy"),
    [
        ({}, 4, 1),
        ({"sign": 4}, 4, 0),
        ({"sign": 1, "separator": 2}, 4, 1 - 1.4 / 4),
        ({"missing": 1, "truncated": 1}, 2, 1 - 1.75 / 2),
    ],
)
def test_weighted_accuracy_by_hand(errors: dict[str, int], facts: int, accuracy: float) -> None:
    assert SEVERITY.weighted_accuracy(errors, facts) == pytest.approx(accuracy)


@pytest.mark.parametrize("cell", ["", "1", "0", "1,000", "n/a", "#,###", "1 or 2"])
def test_weighted_accuracy_of_one_text_for_every_number_is_zero(cell: str) -> None:
    rows = [("Revenue", "1,200"), ("Loss", "(350)"), ("Cash", "$7.25"), ("Growth", "12.5%")]
    gold = "".join(f"<tr><td>{name}<td><Number>{value}</Number>" for name, value in rows)
    answer = "".join(f"<tr><td>{name}<td>{cell}" for name, _ in rows)
    result = FINCRITICALED.score_item(
        {"id": "p", "html": f"<table>{gold}</table>"},
        {"id": "p", "html": f"<table>{answer}</table>"},
        OPTIONS,
    )
    scores = FINCRITICALED.aggregate([result], OPTIONS).scores
    assert (scores["ffa"], scores["weighted_ffa"]) == (0, 0)


def test_without_facts_there_is_none() -> None:
    assert SEVERITY.weighted_accuracy({}, 0) is None


def test_it_is_shown_next_to_ffa() -> None:
    gold = {
        "id": "p",
        "html": "<p>Revenue <Number>1,200</Number>, loss <Number>(350)</Number></p>",
    }
    answer = {"id": "p", "html": "<p>Revenue 1.200, loss 350</p>"}
    result = FINCRITICALED.score_item(gold, answer, OPTIONS)
    assert result["errors"] == {"sign": 1, "separator": 1}
    scores = FINCRITICALED.aggregate([result], OPTIONS).scores
    assert scores["ffa"] == 0
    assert scores["weighted_ffa"] == pytest.approx(1 - (1 + 0.2) / 2)


def test_the_version_is_in_the_signature_and_above_the_table() -> None:
    (table,) = FINCRITICALED.rules
    assert FINCRITICALED.signature(OPTIONS).endswith(f"|severity:{SEVERITY.version}|answer:shown")
    assert table.help.startswith(f"Version {SEVERITY.version}.")
    assert table.rows[0][1] == "1"
    assert table.rows[-1][:2] == ("Spacing", "0.1")


@pytest.mark.parametrize("tag", ["label", "a", "button", "form"])
def test_tags_that_a_release_drops_divide_no_text(tag: str) -> None:
    html = f"<p>501(c)<{tag}>( )</{tag}>of <Number>1,200</Number> <{tag}>in</{tag}>come</p>"
    frozen = {"id": "p3", "html": "<p>501(c)( )of <Number>1,200</Number> income</p>"}
    scores = graded([(frozen, {"id": "p3", "html": html})]).scores
    assert (scores["r1"], scores["rl"], scores["edit_distance"]) == (1, 1, 0)
