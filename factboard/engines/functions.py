"""The engine `python`: a function of one's own, for example around a local model.

The function takes an item and returns its answer, a string or an object. It has

    item.id        the item's id
    item.prompt    the text of the request
    item.question  the item's own question, if it has one
    item.kind      its kind, in benchmarks with several
    item.images    its images: `.name`, and `.read()` for the bytes
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from scoring.answering.core import RunItem

from .programs import EngineFault, EngineMissing, LocalEngine, answer_text

Function = Callable[[RunItem], Any]


def load_function(name: str) -> Function:
    """The function `module:function`, also of a module in the current folder. Raises
    EngineMissing."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise EngineMissing("name the function as module:function, such as my_model:answer")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except ImportError as error:
        raise EngineMissing(f"the module {module} cannot be imported: {error}") from error
    function = getattr(found, attribute, None)
    if not callable(function):
        raise EngineMissing(f"the module {module} has no function {attribute}")
    loaded: Function = function
    return loaded


class FunctionEngine(LocalEngine):
    def __init__(self, function: Function, benchmark: str) -> None:
        super().__init__()
        self._function = function
        self._benchmark = benchmark

    def text(self, item: RunItem) -> str:
        try:
            output = self._function(item)
        except Exception as error:
            raise EngineFault(f"{type(error).__name__}: {error}") from error
        if not isinstance(output, str | dict | list | None):
            raise EngineFault(f"returned {type(output).__name__}, not a string or an object")
        try:
            return answer_text(output, self._benchmark)
        except (TypeError, ValueError, RecursionError) as error:
            raise EngineFault(f"returned an object that is not JSON: {error}") from error
