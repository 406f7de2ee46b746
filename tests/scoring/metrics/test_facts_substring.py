"""The substring matcher is the reference rule, including its weaknesses."""

from scoring.metrics.facts import match_substring, read_page, read_prediction

from .pages import date, number


def matched(gold: str, prediction: str) -> list[str | None]:
    found = match_substring(read_page(gold), read_prediction(prediction))
    return [verdict.matched_text if verdict.correct else None for verdict in found]


def test_a_value_counts_wherever_it_occurs() -> None:
    gold = f"<p>{number('1,200')} and {number('1,200')} and {number('7')}</p>"
    assert matched(gold, "<p>(11,200)</p>") == ["1,200", "1,200", None]


def test_case_and_white_space_do_not_matter() -> None:
    gold = "<p>" + date("May&nbsp;27,\n 2021") + "</p>"
    assert matched(gold, "on  MAY 27,\n2021") == ["MAY 27, 2021"]


def test_a_text_that_grows_when_folded_keeps_its_verdicts() -> None:
    verdicts = match_substring(read_page(f"<p>{number('7')}</p>"), read_prediction("Straße 7"))
    assert [(v.correct, v.matched_text, v.start) for v in verdicts] == [(True, "7", None)]
