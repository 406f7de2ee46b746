"""The substring matcher: the rule of the benchmark's published script, for comparison.

A fact is correct when its value occurs anywhere in the prediction's text, letter case and white
space aside. It sees neither places nor neighbours: `1,200` counts inside `(1,200)`, and one
occurrence counts for any number of facts.
"""

from .page import Page
from .verdicts import MISSING, Verdict


def match_substring(gold: Page, prediction: Page) -> list[Verdict]:
    """The verdict on every fact of `gold`, in order: correct, or missing.

    The case-folded text may be longer than the text itself; the matched place is then not known
    and is left out.
    """
    text = " ".join(prediction.text.split())
    folded = text.casefold()
    return [_verdict(" ".join(fact.value.split()), text, folded) for fact in gold.facts]


def _verdict(value: str, text: str, folded: str) -> Verdict:
    start = folded.find(value.casefold())
    if start < 0:
        return MISSING
    if len(folded) != len(text):
        return Verdict(True, True, value, None, None, None, None)
    end = start + len(value.casefold())
    return Verdict(True, True, text[start:end], start, end, None, None)
