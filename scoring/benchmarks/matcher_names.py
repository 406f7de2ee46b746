"""What matchers of facts are called; they themselves load numerical libraries."""

JUDGE = "judge"
# In the order in which they are shown.
TITLES = {"aligned": "Aligned", "substring": "Substring", JUDGE: "LLM judge"}
NAMES = tuple(TITLES)


def short_name(matcher: str) -> str:
    """The matcher without what a judge goes by.

    >>> short_name("substring"), short_name("judge(gpt-4o,facts-1)")
    ('substring', 'judge')
    """
    return matcher.partition("(")[0]
