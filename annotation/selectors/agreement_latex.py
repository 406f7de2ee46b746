"""Agreement as LaTeX tables in the manner of booktabs, to be pasted into a paper.

Annotators are numbers, as papers name them.
"""

from collections.abc import Iterator, Sequence

from portal.common.latex import escaped

from .agreement_shapes import Agreement, Figure, LevelAgreement, Part

_NOTHING = "---"


def agreement_latex(agreement: Agreement, title: str) -> str:
    """The κ matrix of each level with the overall κ beneath, and the figures of every part."""
    lines = [f"% Agreement in {escaped(title)}; needs \\usepackage{{booktabs}}."]
    for level in agreement.levels:
        lines += ["", *_matrix(level)]
    if agreement.overall:
        lines += ["", *_parts(agreement)]
    return "\n".join(lines) + "\n"


def _matrix(level: LevelAgreement) -> Iterator[str]:
    size = len(level.matrix)
    numbers = " & ".join(str(row.number) for row in level.matrix)
    yield from _begin("l" + "c" * size)
    yield rf"Annotator & {numbers} \\"
    yield r"\midrule"
    for row in level.matrix:
        cells = " & ".join(_value(cell) if cell else _NOTHING for cell in row.cells)
        yield rf"{row.number} & {cells} \\"
    yield r"\midrule"
    several = len(level.overall.fleiss) > 1
    for overall in level.overall.fleiss:
        each = f", {overall.annotators} per document" if several else ""
        value = rf"\multicolumn{{{size}}}{{c}}{{{_with_interval(overall.figure)}}}"
        yield rf"Overall (Fleiss' $\kappa${each}) & {value} \\"
    alpha = level.overall.alpha
    caption = (
        rf"Pairwise Cohen's $\kappa$ of annotators and overall Fleiss' $\kappa$, {level.level} "
        rf"level ($n = {alpha.n}$ items in {alpha.documents} documents; Krippendorff's $\alpha$: "
        rf"{_with_interval(alpha)}; 95\,\% bootstrap intervals over documents)."
    )
    yield from _end(caption, f"agreement-{level.level}")


def _parts(agreement: Agreement) -> Iterator[str]:
    yield from _begin("lrcccc")
    yield (
        r" & Documents & $\alpha$, entities & $\alpha$, tokens & Span $F_1$, exact "
        r"& Span $F_1$, overlap \\"
    )
    groups: list[Sequence[Part]] = [agreement.labels, agreement.doc_types]
    for parts in groups:
        yield r"\midrule"
        yield from (_part(part.name, part) for part in parts)
    yield r"\midrule"
    if agreement.overall:
        yield _part("All", agreement.overall)
    caption = (
        r"Krippendorff's $\alpha$ and span $F_1$ between annotators by label (against the rest) "
        r"and by document type, with 95\,\% bootstrap intervals over documents."
    )
    yield from _end(caption, "agreement-parts")


def _part(name: str, part: Part) -> str:
    figures = (part.entity.alpha, part.token.alpha, part.spans.exact, part.spans.overlap)
    cells = " & ".join(_with_interval(figure) for figure in figures)
    return rf"{escaped(name)} & {part.documents} & {cells} \\"


def _begin(columns: str) -> list[str]:
    return [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]


def _end(caption: str, label: str) -> list[str]:
    return [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{label}}}",
        r"\end{table}",
    ]


def _value(figure: Figure) -> str:
    return "n/a" if figure.value is None else f"${figure.value:.4f}$"


def _with_interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return _value(figure)
    return f"{_value(figure)} [${figure.low:.2f}$, ${figure.high:.2f}$]"
