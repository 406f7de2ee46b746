"""A prompt that was used never changes: kept verdicts and signatures name its version."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.benchmarks import OptionError, get_benchmark
from scoring.judge import questions, use_folder
from scoring.judge.questions import FACT_PROMPTS, FIELD_PROMPTS, MissingPrompt, load_prompt

FOLDER = Path(questions.__file__).with_name("prompts")
WORDINGS = {
    "facts-1": "cfd15796df89c182",
    "facts-paper-1": "3436b8f069876808",
    "fields-1": "3891619088dbc5c0",
    "fields-paper-1": "9b5327512f686808",
    "frame-facts": "a8388faf065b4b3e",
    "frame-fields": "663de73389f52e20",
}


def test_every_wording_has_a_version_of_its_own() -> None:
    found = {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in FOLDER.glob("*.md")
    }
    assert found == WORDINGS


@pytest.mark.parametrize("version", WORDINGS)
def test_a_prompt_tells_the_boundary_and_asks_for_json(version: str) -> None:
    text = load_prompt(version).text("0123")
    assert "0123" in text
    assert "$" not in text
    assert "JSON" in text


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The operator's folder, with the words of a judge of facts."""
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge" / "facts.md").write_text("Be strict. It costs $5.\n")
    use_folder(tmp_path)
    yield tmp_path
    use_folder(None)


def test_each_judge_has_a_prompt_after_its_paper() -> None:
    assert FACT_PROMPTS.version_of("") == "facts-1"
    assert FACT_PROMPTS.version_of("facts-paper-1") == "facts-paper-1"
    assert FIELD_PROMPTS.version_of("fields-paper-1") == "fields-paper-1"
    assert FACT_PROMPTS.version_of("fields-paper-1") == ""
    assert FACT_PROMPTS.get("facts-paper-1").text("0") != FACT_PROMPTS.get("facts-1").text("0")


def test_the_operators_words_come_before_the_frame(folder: Path) -> None:
    version = FACT_PROMPTS.version_of("facts-published")
    text = FACT_PROMPTS.get(version).text("0123")
    assert text.startswith("Be strict. It costs $5.\n\nThese lines are about the form")
    assert "BEGIN name 0123" in text
    assert FIELD_PROMPTS.version_of("fields-published") == ""


def test_other_words_are_another_version(folder: Path) -> None:
    first = FACT_PROMPTS.version_of("facts-published")
    (folder / "judge" / "facts.md").write_text("Be kind.")
    second = FACT_PROMPTS.version_of("facts-published")
    assert first != second
    # Options that name it can still be read, and the reason is given where it would be asked.
    assert FACT_PROMPTS.version_of(first) == first
    assert first in FACT_PROMPTS.lacking(first)
    with pytest.raises(MissingPrompt):
        FACT_PROMPTS.get(first)


def test_without_a_folder_there_are_no_published_words() -> None:
    assert FACT_PROMPTS.version_of("facts-published") == ""
    spec = get_benchmark("fincriticaled")
    with pytest.raises(OptionError, match="facts-paper-1 or facts-published"):
        spec.check_options({"matcher": "judge(m,facts-published)"})


@pytest.mark.parametrize(
    ("key", "option", "shipped"),
    [("fincriticaled", "matcher", "facts-paper-1"), ("receiptbench", "semantic", "fields-paper-1")],
)
def test_an_option_chooses_the_prompt(key: str, option: str, shipped: str) -> None:
    spec = get_benchmark(key)
    options = spec.check_options({option: f"judge(m, {shipped})"})
    assert options[option] == f"judge(m,{shipped})"
    assert f"judge(m,{shipped})" in spec.signature(options)
    assert spec.judge_model(options) == "m"
    assert spec.lacking(options) == ""
    assert spec.judging is not None
    assert spec.judging.options({"prompt": shipped}, "m")[option] == f"judge(m,{shipped})"


def test_missing_words_are_named_before_grading(folder: Path) -> None:
    spec = get_benchmark("fincriticaled")
    options = spec.check_options({"matcher": "judge(m,facts-published)"})
    assert spec.lacking(options) == ""
    use_folder(None)
    assert "facts-published-" in spec.lacking(options)


def test_the_questions_ask_by_the_chosen_prompt() -> None:
    spec = get_benchmark("fincriticaled")
    assert spec.judging is not None
    gold, read = {"html": "<p>Loss <Number>5</Number></p>"}, {"html": "<p>Loss 5</p>"}
    options = spec.judging.options({"prompt": "facts-paper-1"}, "m")
    [question] = spec.judging.questions(gold, read, options)
    assert question.prompt.version == "facts-paper-1"
    receipts = get_benchmark("receiptbench")
    assert receipts.judging is not None
    options = receipts.judging.options({"prompt": "fields-paper-1"}, "m")
    fields = [{"fields": {"place": place}} for place in ("Ireland-Cork", "Cork")]
    [question] = receipts.judging.questions(fields[0], fields[1], options)
    assert question.prompt.version == "fields-paper-1"
