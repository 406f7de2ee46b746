"""Run a model on a benchmark, grade it, and send it to a Factboard site. Knows no Django.

`factboard --help` lists the commands. `factboard.Client` is the typed client of a site's API.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import Client, ModelCard

__all__ = ["Client", "ModelCard"]


def __getattr__(name: str) -> Any:
    """Imports the client, and with it the HTTP library, when it is first used."""
    if name in __all__:
        from . import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
