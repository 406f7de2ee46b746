"""Draws charts in a process that ends when they are done."""

import json
import logging
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 60
VEGA_LITE = "6.4"
logger = logging.getLogger(__name__)

Form = Literal["svg", "png", "library"]


class DrawingError(RuntimeError):
    """The charts could not be drawn; the log says why."""


def draw_svg(specs: Sequence[dict[str, Any]]) -> list[str]:
    """Return each chart as SVG. Raises DrawingError."""
    return _drawn(specs, "svg")


def draw_png(spec: dict[str, Any]) -> bytes:
    """Return a chart as PNG, at twice the size. Raises DrawingError."""
    [picture] = _drawn([spec], "png")
    return b64decode(picture)


def make_library() -> str:
    """Return the JavaScript module that draws charts in a browser. Raises DrawingError."""
    [module] = _drawn([], "library")
    return module


def library_version() -> str:
    """Return a version that changes whenever the drawing package changes."""
    return f"{VEGA_LITE}-{version('vl-convert-python')}".replace(".", "-")


def _drawn(specs: Sequence[dict[str, Any]], form: Form) -> list[str]:
    request = json.dumps({"form": form, "specs": list(specs)})
    # The process gets none of the site's settings, which contain secrets.
    environment = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "scoring.charts"],
            input=request,
            capture_output=True,
            encoding="utf-8",
            cwd=_ROOT,
            env={**environment, "PYTHONIOENCODING": "utf-8"},
            timeout=_SECONDS,
            check=True,
        )
        pictures = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        logger.exception("charts could not be drawn: %s", error.stderr[-2000:])
        raise DrawingError("the charts could not be drawn") from error
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        logger.exception("charts could not be drawn")
        raise DrawingError("the charts could not be drawn") from error
    return list(pictures)
