"""What a model wrote around its answer: code fences, and the preamble of a LaTeX document.

The published evaluators cut these off with regular expressions that take quadratic time and more
on hostile text. Here the same is cut in one pass over the text.
"""

_FENCE = "```"

# The opening of each command, and the marks up to and with the last of which it goes. Both stand
# on one line.
_PREAMBLE = (
    (r"\documentclass{", ("}",)),
    (r"\usepackage[", ("]{", "}")),
    (r"\usepackage{", ("}",)),
    (r"\geometry{", ("}",)),
    (r"\begin{document}", ()),
    (r"\end{document}", ()),
    (r"\noindent", ()),
)


def fenced(text: str, language: str) -> str:
    """What stands in the first code fence of a language; all of the text if there is none.

    An unclosed fence holds everything after it. Source: CC-OCR's parsing evaluator.

    >>> fenced("Here: ```html <p>1</p>``` done", "html")
    ' <p>1</p>'
    >>> fenced("```html <p>1</p>", "html")
    ' <p>1</p>'
    """
    opening = _FENCE + language
    start = text.find(opening)
    if start < 0:
        return text
    start += len(opening)
    # A fence has at least one character inside.
    end = text.find(_FENCE, start + 1)
    return text[start:end] if end >= 0 else text[start:].split(opening)[0]


def without_preamble(text: str) -> str:
    r"""LaTeX without the commands of its preamble, `\begin{document}` and `\noindent`.

    Source: CC-OCR's parsing evaluator.

    >>> without_preamble("\\documentclass{article}\\usepackage[utf8]{inputenc}\\noindent Net loss")
    ' Net loss'
    """
    for opening, marks in _PREAMBLE:
        if not marks:
            text = text.replace(opening, "")
        elif opening in text:
            text = "\n".join(_without(line, opening, marks) for line in text.split("\n"))
    return text


def _without(line: str, opening: str, marks: tuple[str, ...]) -> str:
    """The line without what stands from each opening to the last of the marks after it."""
    kept = []
    position = 0
    while (start := line.find(opening, position)) >= 0:
        end = _end_of(line, start + len(opening), marks)
        if end < 0:
            break
        kept.append(line[position:start])
        position = end
    return "".join([*kept, line[position:]])


def _end_of(line: str, position: int, marks: tuple[str, ...]) -> int:
    """Where the last mark ends, each looked for after the one before; -1 if one is missing."""
    for mark in marks:
        found = line.find(mark, position)
        if found < 0:
            return -1
        position = found + len(mark)
    return position
