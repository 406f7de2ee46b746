"""The browser and the server validate edited values with the same messages."""

import json
import random
import subprocess

from django.conf import settings
from playwright._impl._driver import compute_driver_executable

from portal.facts import SIGNS, check_value

Case = tuple[str, str, str]

CASES = settings.BASE_DIR / "tests" / "js" / "value_cases.mjs"
LABELS = ["Number", "number", "Date", "Temporal", "FinancialConcept"]
NUMBERS = [
    "0", "-0", "-0.0", "0/5", "-0/5", "7", "007", "-1200", "1,200", "25.63", "25.", ".5", "-.5",
    "1/3", "21/4", "-1/3", "1/0", "1/03", "1.5/3", "--5", "+5", "1e5", "5\n", " 5", "5\u0663",
    "\uff15",
]  # fmt: skip
DATES = [
    "2025-03-24", "2025-03", "2025", "2025-Q2", "2025-Q5", "2025-H1", "2025-H3", "2025-q2",
    "2024-02-29", "2025-02-29", "1900-02-29", "2000-02-29", "0004-02-29", "0000", "0000-Q1", "0001",
    "--06-30", "--02-29", "--02-30", "--00-01", "2025-00", "2025-13", "2025-01-00", "2025-1-1",
    "24.03.2025", "P", "PT", "P1M", "P1.5Y", "P1.Y", "P1Y2M3W4D", "P1D2M", "PT24H", "P1YT",
    "P1YT1.5S", "PT1M1H", "-P1M", "2024-01-01/2024-03-31", "2025-Q4/2026-H1", "--01-01/--03-31",
    "2025/P1M", "2025/2026-13", "2025-13/2026-14", "2025/", "/", "2025/2026/2027", "2025\n",
    "\u0662025",
]  # fmt: skip


def said_in_javascript(cases: list[Case]) -> list[str | None]:
    node = compute_driver_executable()[0]
    done = subprocess.run(
        [node, str(CASES)], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    said: list[str | None] = json.loads(done.stdout)
    return said


def assert_twins(cases: list[Case]) -> None:
    expected = [check_value(*case) for case in cases]
    assert {problem is None for problem in expected} == {True, False}
    for case, ours, theirs in zip(cases, said_in_javascript(cases), expected, strict=True):
        assert (case, ours) == (case, theirs)


def test_values_that_are_known_to_be_hard_are_judged_alike() -> None:
    signs = ["", *SIGNS, "brackets"]
    values = ["", *NUMBERS, *DATES]
    assert_twins([(value, sign, label) for value in values for sign in signs for label in LABELS])


def test_values_with_a_few_characters_changed_are_judged_alike() -> None:
    chance = random.Random(7)
    cases: list[Case] = []
    for _ in range(5_000):
        value = list(chance.choice(NUMBERS + DATES))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(value) + 1)
            value[at : at + chance.randint(0, 1)] = chance.choice(["", *"0123456789-/.PTYMWDHSQ"])
        label = chance.choice(["Number", "Date"])
        cases.append(("".join(value), chance.choice(SIGNS) if label == "Number" else "", label))
    assert_twins(cases)
