"""Texts of others in files that people open with a spreadsheet."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def spreadsheet_text(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would calculate.

    The characters are those of OWASP's page on CSV injection, wide forms included.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
