"""Options of a benchmark: a few words each, checked before anything is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from .base import OptionError, Options


@dataclass(frozen=True)
class Option:
    """An option: its name, its default, and either the words it may be or a function that makes
    it canonical."""

    name: str
    default: str
    choices: tuple[str, ...] = ()
    canonical: Callable[[object], str] | None = None

    def check(self, value: object) -> str:
        """The canonical form of a value; raises OptionError."""
        if self.canonical is not None:
            return self.canonical(value)
        if value in self.choices:
            return str(value)
        allowed = " or ".join(self.choices)
        raise OptionError(f"option {self.name} must be {allowed}, not {value!r}")


def complete_options(options: tuple[Option, ...], raw: Mapping[str, object]) -> Options:
    """Complete options in canonical form; raises OptionError for unknown names and wrong values."""
    by_name = {option.name: option for option in options}
    for name in raw:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(by_name)}"
            raise OptionError(f"there is no option {name!r}; {hint}")
    return {
        name: option.check(raw[name]) if name in raw else option.default
        for name, option in by_name.items()
    }
