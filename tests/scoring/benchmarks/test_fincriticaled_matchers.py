"""FinCriticalED's matchers: the main one, and others for comparison, including a judge."""

import pytest

from scoring.benchmarks import BENCHMARKS, OptionError
from scoring.benchmarks.judging import JUDGE, NAMES, TITLES
from scoring.metrics.facts import MATCHERS
from scoring.models.gradings import MOST_SIGNATURE

BENCHMARK = BENCHMARKS["fincriticaled"]


def test_every_matcher_has_a_name_to_be_shown() -> None:
    assert {*MATCHERS, JUDGE} == set(NAMES) == set(TITLES)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"matcher": "judge"}, "option matcher must be"),
        ({"matcher": "judge()"}, "option matcher must be"),
        ({"matcher": "judge(a b)"}, "option matcher must be"),
        ({"matcher": "judge(m,facts-0)"}, "asks by facts-1"),
        ({"beside": "judge(m),judge(n)"}, "names a matcher, or a judge, twice"),
        ({"beside": "aligned"}, "which is the matcher already"),
        ({"matcher": "judge(m)", "beside": "judge(n)"}, "which is the matcher already"),
        ({"override": "reference"}, "no option 'override'"),
        ({"matcher": "judge(m)", "override": "none"}, "override must be"),
    ],
)
def test_matchers_that_make_no_sense(raw: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        BENCHMARK.check_options(raw)


def test_other_matchers_are_in_the_signature_and_an_unused_option_is_not() -> None:
    assert "beside" not in BENCHMARK.signature(BENCHMARK.check_options({}))
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
