"""The benchmarks by key, each imported when it is first asked for."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pkgutil import resolve_name

from .base import Benchmark


class Registry(MutableMapping[str, Benchmark]):
    """A dict of benchmarks that is told where each stands, as "package:NAME".

    Scorers import numerical libraries that take as long to load as the rest of the site. Its
    start, `manage.py prepare` and pages that only need the keys do without them.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places: dict[str, str | Callable[[], Benchmark] | Benchmark] = dict(places)

    def build_by(self, key: str, builder: Callable[[], Benchmark]) -> None:
        """Has a known benchmark built by this function, once and only when it is asked for: so it
        can be given what only the site's settings know. Raises KeyError."""
        if key not in self._places:
            raise KeyError(key)
        self._places[key] = builder

    def __getitem__(self, key: str) -> Benchmark:
        place = self._places[key]
        if isinstance(place, Benchmark):
            return place
        benchmark: Benchmark = resolve_name(place) if isinstance(place, str) else place()
        self._places[key] = benchmark
        return benchmark

    def __setitem__(self, key: str, benchmark: Benchmark) -> None:
        self._places[key] = benchmark

    def __delitem__(self, key: str) -> None:
        del self._places[key]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
