"""Draw charts, or build the library that draws them in a browser. Reads a JSON request from
standard input and writes a JSON response to standard output.

Runs as a separate process, because the drawing engine takes over 100 MB, which neither the web
server nor a worker should hold. Imports as little as possible, because a user may be waiting. Tests
check the specifications against the Vega-Lite schema, so they are not checked again here.
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
    """Return Vega with vega-embed, of the same version, as a JavaScript module."""
    import vl_convert

    return vl_convert.javascript_bundle("export { vegaEmbed };", vl_version=VEGA_LITE)


def _drawn(spec: dict[str, Any], form: str) -> str:
    """Return SVG text, or PNG in base 64. Fetches nothing: no URL is allowed."""
    import vl_convert

    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    png = vl_convert.vegalite_to_png(
        spec, vl_version=VEGA_LITE, scale=_PIXELS, allowed_base_urls=[]
    )
    return b64encode(png).decode()


if __name__ == "__main__":
    main()
