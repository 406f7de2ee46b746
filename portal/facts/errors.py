"""Errors of the HTML readers, with reasons for users."""


class RefusedHtml(ValueError):
    """A file or page that cannot become a document.

    `reason` is a sentence for users; `code` a stable word for programs, one of
    `binary encoding not_html empty too_large too_deep too_many unclosed unstable`.
    """

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class TagError(ValueError):
    """A fact tag that cannot be read as a span.

    `line` and `column` of the input count from 1; `offset` is the same place in code points from 0.
    """

    def __init__(self, reason: str, html: str, offset: int) -> None:
        self.reason = reason
        self.offset = offset
        self.line = html.count("\n", 0, offset) + 1
        self.column = offset - html.rfind("\n", 0, offset)
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


class ReadingError(ValueError):
    """A file of spans that cannot be read.

    `field` is the path of the invalid field, such as `spans[3].quote`, and `reason` a sentence.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
