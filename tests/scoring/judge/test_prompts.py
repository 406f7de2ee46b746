"""A prompt that was used never changes: kept verdicts and signatures name its version."""

import hashlib
from pathlib import Path

import pytest

from scoring.judge import questions
from scoring.judge.questions import load_prompt

FOLDER = Path(questions.__file__).with_name("prompts")
WORDINGS = {
    "facts-1": "cfd15796df89c182",
    "fields-1": "3891619088dbc5c0",
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
