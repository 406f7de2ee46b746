"""Draws charts, and writes the library that draws them in a browser: a JSON request on standard
input, a JSON answer on standard output.

A process of its own, since the engine that draws takes over 100 MB, which neither the web server
nor a worker should keep. It imports as little as it can: somebody may wait for it. That the
specifications keep the schema of Vega-Lite is tested, not checked again with each picture.
"""

import json
import sys
from base64 import b64encode
from typing import Any

from .drawing import VEGA_LITE

_PIXELS = 2


def main() -> None:
    request = json.load(sys.stdin)
    if request["form"] == "library":
        made = [_library()]
    else:
        made = [_drawn(spec, request["form"]) for spec in request["specs"]]
    json.dump(made, sys.stdout)


def _library() -> str:
    """Vega with what shows charts in a browser, of the same version, as a JavaScript module."""
    import vl_convert

    return vl_convert.javascript_bundle("export { vegaEmbed };", vl_version=VEGA_LITE)


def _drawn(spec: dict[str, Any], form: str) -> str:
    """SVG as it is, PNG in base 64. Nothing is fetched: no address is allowed."""
    import vl_convert

    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    png = vl_convert.vegalite_to_png(
        spec, vl_version=VEGA_LITE, scale=_PIXELS, allowed_base_urls=[]
    )
    return b64encode(png).decode()


if __name__ == "__main__":
    main()
