"""The check of the wording: what it reads, and what it lets pass."""

import pytest

from tests.words import (
    Text,
    findings_in,
    markdown_texts,
    python_texts,
    rules,
    script_texts,
    template_texts,
)

SOURCE = '''"""Tells the reader."""

# An address of a page.
LABEL = "This letter"
KEY = "letter"


def shown():
    """Nothing to see.

    >>> "doctests are code: tells"
    """
    return f"{LABEL} stands here"
'''


def found(words: str) -> list[str]:
    return [finding.found for finding in findings_in(Text("a.md", 1, words), rules())]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("The page tells you so.", ["tells"]),
        ("Everybody shall read it anew.", ["Everybody", "shall", "anew"]),
        ("What is refused is listed.", ["What"]),
        ("It works. What counts: facts.", ["What"]),
        ("What is refused?", []),
        ("This is what counts.", []),
        ("A capital letter, or letters and digits.", []),
        ("A letter is sent to your email address.", ["letter"]),
        ("The address of the page.", ["address"]),
        ("The outstanding shares are understood.", []),
    ],
)
def test_words_are_found_where_they_are_wrong(words: str, expected: list[str]) -> None:
    assert sorted(found(words)) == sorted(expected)


def faults(texts: list[Text]) -> list[tuple[int, str]]:
    checked = rules()
    return sorted((each.line, each.found) for text in texts for each in findings_in(text, checked))


def test_python_is_read_in_docstrings_comments_and_messages() -> None:
    everything = faults(list(python_texts("a.py", SOURCE, strings=True)))
    assert everything == [(1, "Tells"), (3, "address"), (4, "letter"), (13, "stands")]
    without = faults(list(python_texts("a.py", SOURCE, strings=False)))
    assert without == [(1, "Tells"), (3, "address")]


def test_templates_are_read_without_tags_but_with_shown_attributes() -> None:
    source = '<p class="stand">{{ told }}\n<input placeholder="An address of a page">\n<b>tell'
    assert faults(list(template_texts("a.html", source))) == [(2, "address"), (3, "tell")]


def test_markdown_is_read_without_code_and_link_targets() -> None:
    source = "It `tells` [so](told.md).\n\n```\nstands\n```\nIt stands.\n"
    assert faults(list(markdown_texts("a.md", source))) == [(6, "stands")]


def test_scripts_are_read_in_comments_and_messages() -> None:
    source = 'const told = 1; // nobody reads this\nshow("The address is wrong");\n'
    assert faults(list(script_texts("a.js", source))) == [(1, "nobody"), (2, "address")]
