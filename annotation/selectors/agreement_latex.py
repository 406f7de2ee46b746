"""Agreement as LaTeX tables in the manner of booktabs, to be pasted into a paper.

Annotators are numbers, as papers name them.
"""

from collections.abc import Iterator, Sequence

from portal.files.tables import PACKAGES, Cell, Head, Heading, Line, Overall, Row, Table, escaped

from .agreement_shapes import Agreement, Figure, LevelAgreement, Part

_EMPTY = Cell("---", "---")
_ALPHA, _SPANS = "Krippendorff's alpha", "Span F1"
_PART_HEADS = (
    Head("Documents"),
    Head("Entities", group=_ALPHA),
    Head("Tokens", group=_ALPHA),
    Head("Exact", group=_SPANS),
    Head("Overlap", group=_SPANS),
)


def agreement_latex(agreement: Agreement, title: str) -> str:
    """The κ matrix of each level with the overall κ beneath, and the figures of every part."""
    lines = [f"% Agreement in {escaped(title)}; needs {PACKAGES}."]
    for level in agreement.levels:
        lines += ["", *_matrix(level)]
    if agreement.overall:
        lines += ["", *_parts(agreement)]
    return "\n".join(lines) + "\n"


def _matrix(level: LevelAgreement) -> Iterator[str]:
    heads = [Head(str(row.number)) for row in level.matrix]
    lines: list[Line] = [
        Row(str(row.number), (), tuple(_cell(cell) if cell else _EMPTY for cell in row.cells))
        for row in level.matrix
    ]
    lines.append(Heading())
    several = len(level.overall.fleiss) > 1
    for overall in level.overall.fleiss:
        each = f", {overall.annotators} per document" if several else ""
        name = rf"Overall (Fleiss' $\kappa${each})"
        lines.append(Overall(name, _with_interval(overall.figure)))
    alpha = level.overall.alpha
    caption = (
        rf"Pairwise Cohen's $\kappa$ of annotators and overall Fleiss' $\kappa$, {level.level} "
        rf"level ($n = {alpha.n}$ items in {alpha.documents} documents; Krippendorff's $\alpha$: "
        rf"{_with_interval(alpha)}; 95\,\% bootstrap intervals over documents)."
    )
    table = Table(("Annotator",), heads, lines)
    yield from table.lines_of_latex(caption, f"agreement-{level.level}")


def _parts(agreement: Agreement) -> Iterator[str]:
    lines: list[Line] = []
    groups: list[Sequence[Part]] = [agreement.labels, agreement.doc_types]
    for parts in groups:
        lines += [_part(part.name, part) for part in parts]
        lines.append(Heading())
    if agreement.overall:
        lines.append(_part("All", agreement.overall))
    caption = (
        r"Krippendorff's $\alpha$ and span $F_1$ between annotators by label (against the rest) "
        r"and by document type, with 95\,\% bootstrap intervals over documents below."
    )
    table = Table(("Part",), _PART_HEADS, lines)
    yield from table.lines_of_latex(caption, "agreement-parts")


def _part(name: str, part: Part) -> Row:
    figures = (part.entity.alpha, part.token.alpha, part.spans.exact, part.spans.overlap)
    documents = Cell(str(part.documents), str(part.documents))
    return Row(name, (), (documents, *(_cell(figure, has_interval=True) for figure in figures)))


def _cell(figure: Figure, *, has_interval: bool = False) -> Cell:
    under = _ends(figure) if has_interval else ""
    return Cell(_value(figure), _value(figure), under)


def _ends(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"[${figure.low:.2f}$, ${figure.high:.2f}$]"


def _value(figure: Figure) -> str:
    return "n/a" if figure.value is None else f"${figure.value:.4f}$"


def _with_interval(figure: Figure) -> str:
    return f"{_value(figure)} {_ends(figure)}".rstrip()
