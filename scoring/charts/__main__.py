"""Draw charts, or build the library that draws them in a browser. Reads requests from standard
input and writes a response to each, both one line of JSON.

Runs as a separate process, because the drawing engine takes over 100 MB, which neither the web
server nor a worker should hold. It starts the engine before the first request comes, since that
takes longer than drawing, and ends when no request came for a while. Tests check the specifications
against the Vega-Lite schema, so they are not checked again here.
"""

import json
import select
import sys
from base64 import b64encode
from typing import Any

import vl_convert

from .drawing import VEGA_LITE

_IDLE_SECONDS = 60
_PIXELS = 2
_SMALLEST = {"data": {"values": [{}]}, "mark": "point"}


def main() -> None:
    _svg(_SMALLEST)
    while select.select([sys.stdin], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.readline()
        if not line:
            return
        json.dump(_answer(json.loads(line)), sys.stdout)
        sys.stdout.write("\n")
        sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"made": _made(request["form"], request["spec"])}
    except ValueError as error:
        return {"error": str(error)[-2000:]}


def _made(form: str, spec: dict[str, Any]) -> str:
    """Return SVG or JavaScript as text, PNG and PDF in base 64. Fetches nothing: no URL is
    allowed."""
    if form == "library":
        # Vega with vega-embed, of the same version.
        return vl_convert.javascript_bundle("export { vegaEmbed };", vl_version=VEGA_LITE)
    svg = _svg(spec)
    if form == "svg":
        return svg
    if form == "pdf":
        return b64encode(vl_convert.svg_to_pdf(svg)).decode()
    return b64encode(vl_convert.svg_to_png(svg, scale=_PIXELS)).decode()


def _svg(spec: dict[str, Any]) -> str:
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


if __name__ == "__main__":
    main()
