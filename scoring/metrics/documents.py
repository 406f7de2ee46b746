"""Normalised edit similarity of documents in LaTeX, formulas and molecules.

1 - Levenshtein distance over characters / length of the longer text, in [0, 1]; higher is better.
Two empty texts are alike: 1. What counts as the text differs. Source: CC-OCR, equation 5, and its
parsing evaluator, which cleans the response but of the gold takes only spaces (and, in documents,
newlines) away.
"""

from rapidfuzz.distance import Levenshtein

from .fences import fenced, without_preamble
from .limits import check_characters

_SPACES = str.maketrans("", "", " ")
_LINES = str.maketrans("", "", " \n")
_WHITE = str.maketrans("", "", " \n\t")


def similarity(gold: str, prediction: str) -> float:
    """1 - Levenshtein distance / longer length, in [0, 1]; higher is better.

    Raises TooLargeError.

    >>> similarity("a+b", "a-b")
    0.6666666666666667
    """
    check_characters(len(gold), len(prediction))
    return 1.0 - Levenshtein.normalized_distance(gold, prediction)


def document_score(gold: str, response: str) -> float:
    """Similarity of a page in LaTeX: without preamble, code fence, spaces and newlines.

    >>> document_score("Net loss", "```latex\\n\\\\documentclass{article}\\nNet loss\\n```")
    1.0
    """
    prediction = fenced(without_preamble(response), "latex")
    return similarity(gold.translate(_LINES), prediction.translate(_LINES))


def formula_score(gold: str, response: str) -> float:
    """Similarity of a formula in LaTeX: without code fence, spaces, tabs and newlines.

    >>> formula_score("x^2", "```latex x^ 2```")
    1.0
    """
    prediction = response.replace("```latex", "").replace("```", "").translate(_WHITE)
    return similarity(gold.translate(_SPACES), prediction)


def molecule_score(gold: str, response: str) -> float:
    """Similarity of a molecule in SMILES: without spaces, newlines and `<smiles>` tags.

    >>> molecule_score("CC(=O)O", "<smiles>CC(=O)O</smiles>")
    1.0
    """
    prediction = response.translate(_LINES).replace("<smiles>", "").replace("</smiles>", "")
    return similarity(gold.translate(_SPACES), prediction)
