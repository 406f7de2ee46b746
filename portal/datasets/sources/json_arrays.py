"""Reads a JSON array from a file item by item, so that memory holds one at a time. No Django."""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

from portal.facts.file_reading import TEXT, mistaken
from portal.files.archives import MEGABYTE, ArchiveFault, ArchiveLimits

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def json_items(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[Any]:
    """The items of an array, or a single object as if it were the only item.

    Raises ArchiveFault for what is no JSON, and for an item larger than the limit.
    """
    yield from _Reader(file, name, limits).items()


class _Reader:
    def __init__(self, file: IO[bytes], name: str, limits: ArchiveLimits) -> None:
        self._source = file
        self._file = codecs.getreader("utf-8-sig")(file)
        self._name = name
        self._limit = limits.member
        self._text = ""
        self._is_whole = False
        self._items = 0

    def items(self) -> Iterator[Any]:
        if reason := mistaken(self._source, {TEXT}, "JSON in UTF-8 is accepted"):
            raise ArchiveFault("file_kind", f"{self._name}: {reason}")
        first = self._next()
        if first == "{":
            yield self._item()
        elif first == "[":
            self._text = self._text[1:]
            if self._next() != "]":
                yield self._item()
                while self._next() == ",":
                    self._text = self._text[1:]
                    yield self._item()
                if self._next() != "]":
                    raise self._fault("a comma or the end of the list is missing")
            self._text = self._text[1:]
        else:
            raise self._fault("it must begin with a list or an object")
        if self._next():
            raise self._fault("something follows its end")

    def _next(self) -> str:
        """The next character that is no white space; empty at the end."""
        self._text = self._text.lstrip(_SPACE)
        while not self._text and not self._is_whole:
            self._read(MEGABYTE)
            self._text = self._text.lstrip(_SPACE)
        return self._text[:1]

    def _item(self) -> Any:
        self._next()
        while True:
            try:
                item, end = _DECODER.raw_decode(self._text)
            except json.JSONDecodeError as error:
                if self._is_whole:
                    raise self._fault(error.msg) from error
            except (RecursionError, ValueError) as error:
                raise self._fault(str(error)) from error
            else:
                self._text = self._text[end:]
                self._items += 1
                return item
            if len(self._text) > self._limit:
                message = f"{self._name}: item {self._items + 1} is larger than allowed"
                raise ArchiveFault("too_large", message)
            # Twice as much each time, so that a large item is not gone over again and again.
            self._read(max(MEGABYTE, len(self._text)))

    def _read(self, size: int) -> None:
        try:
            piece = self._file.read(size)
        except UnicodeDecodeError as error:
            raise self._fault("it is not UTF-8") from error
        self._text += piece
        self._is_whole = not piece

    def _fault(self, reason: str) -> ArchiveFault:
        where = f"{self._name}: item {self._items + 1}"
        return ArchiveFault("not_json", f"{where}: not JSON: {reason}")
