"""Rendering with Chromium: results, and limits for hostile pages."""

import http.server
import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from portal.datasets.imaging import renderer as renderer_module
from portal.datasets.imaging.renderer import (
    Limits,
    NoBrowserError,
    Rendered,
    Renderer,
    RenderingError,
    family,
)
from portal.facts import canonicalise

pytestmark = pytest.mark.browser

LETTER = (2550, 3300)


@pytest.fixture(scope="module")
def shared_renderer() -> Iterator[Renderer]:
    with Renderer("chromium") as renderer:
        yield renderer


def draw(renderer: Renderer, html: str) -> Rendered:
    canonical = canonicalise(html)
    return renderer.render(canonical.html, canonical.text)


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def darkest(picture: Image.Image) -> int:
    extrema: Any = picture.getextrema()
    return int(extrema[0])


def test_one_page_is_one_grey_image_of_300_dpi(shared_renderer: Renderer) -> None:
    rendered = draw(shared_renderer, "<p>Net sales were $1,200 at March 31, 2025</p>")
    [image] = rendered.images
    picture = opened(image.png)
    assert (picture.mode, picture.format) == ("L", "PNG")
    assert round(picture.info["dpi"][0]) == 300
    assert picture.size == (image.width, image.height)
    assert (abs(image.width - LETTER[0]) <= 1, abs(image.height - LETTER[1]) <= 1) == (True, True)
    assert rendered.similarity == 1
    small = opened(image.thumbnail)
    assert (small.format, small.size[0]) == ("WEBP", 240)


def test_a_page_with_colours_keeps_them(shared_renderer: Renderer) -> None:
    html = '<p style="background:#c80000;color:#ffe000">Loss (1,200)</p><p>and more</p>'
    rendered = draw(shared_renderer, html)
    [image] = rendered.images
    picture = opened(image.png)
    assert (picture.mode, rendered.similarity) == ("RGB", 1)
    colours: Any = picture.getcolors(maxcolors=1 << 24)
    assert {(200, 0, 0), (255, 224, 0)} <= {colour for _, colour in colours}
    left, top = (place * 240 // LETTER[0] for place in image.boxes[0][2:4])
    small: Any = opened(image.thumbnail).convert("RGB").getpixel((left + 2, top + 1))
    assert small[0] > max(small[1], small[2]) + 60


def test_boxes_hold_the_ink_of_their_text(shared_renderer: Renderer) -> None:
    html = "<table><tr><td>Total</td><td>(1,200)</td></tr></table><p>End</p>"
    text = canonicalise(html).text
    [image] = draw(shared_renderer, html).images
    picture = opened(image.png)
    assert [text[start:end] for start, end, *_ in image.boxes] == [
        "Total",
        "(",
        "1,200",
        ")",
        "End",
    ]
    for _, _, left, top, width, height in image.boxes:
        box = (left, top, left + width, top + height)
        assert darkest(picture.crop(box)) < 128
        # The page is white outside the boxes.
        picture.paste(255, box)
    assert darkest(picture) > 200


def test_page_somewhat_longer_than_letter_stays_one_image(shared_renderer: Renderer) -> None:
    [image] = draw(shared_renderer, "<p>line</p>" * 40).images
    assert abs(image.height - 14 * 300) <= 1 or abs(image.height - 17 * 300) <= 1


def test_long_document_has_several_images_and_all_its_text(shared_renderer: Renderer) -> None:
    html = "".join(f"<p>Line {number}</p>" for number in range(300))
    rendered = draw(shared_renderer, html)
    assert len(rendered.images) > 2
    assert {abs(image.height - LETTER[1]) <= 1 for image in rendered.images} == {True}
    assert rendered.similarity == 1
    starts = [image.boxes[0][0] for image in rendered.images]
    assert starts == sorted(starts)
    assert sum(end - start for image in rendered.images for start, end, *_ in image.boxes) == len(
        "".join(canonicalise(html).text.split())
    )


def test_blank_sheets_are_dropped(shared_renderer: Renderer) -> None:
    html = '<p>One</p><div style="page-break-before:always"><br></div>'
    html += '<p style="page-break-before:always">Two</p>'
    rendered = draw(shared_renderer, html)
    assert len(rendered.images) == 2
    assert [len(image.boxes) for image in rendered.images] == [1, 1]


@pytest.mark.parametrize(
    "html",
    [
        '<p>Seen text</p><p style="color:#fff">Unseen one</p>',
        '<p>Seen text</p><p style="position:absolute;left:-9999px">Unseen one</p>',
    ],
)
def test_text_that_nobody_sees_lowers_the_similarity(shared_renderer: Renderer, html: str) -> None:
    canonical = canonicalise(html)
    rendered = shared_renderer.render(html, canonical.text)
    assert rendered.similarity == pytest.approx(8 / 17)


def test_page_with_nothing_to_see_is_refused(shared_renderer: Renderer) -> None:
    with pytest.raises(RenderingError) as caught:
        shared_renderer.render('<p style="color:#fff">x</p>', "x")
    assert caught.value.code == "blank"


class TestHostile:
    @pytest.mark.parametrize(
        "html",
        [
            '<div style="height:100000px">tall</div>',
            "<p>many</p>" * 20_000,
            '<p style="page-break-after:always">x</p>' * 500,
        ],
    )
    def test_endless_pages_are_refused_by_name(self, shared_renderer: Renderer, html: str) -> None:
        with pytest.raises(RenderingError) as caught:
            shared_renderer.render(html, "many")
        assert caught.value.code == "too_long"
        assert "more than 40 sheets" in caught.value.reason

    def test_endless_animation_ends(self, shared_renderer: Renderer) -> None:
        html = (
            "<style>@keyframes spin{to{transform:rotate(360deg);width:9000px}}"
            "p{animation:spin 1ms infinite}</style><p>turning</p>"
        )
        assert shared_renderer.render(html, "turning").similarity == 1

    def test_scripts_do_not_run(self, shared_renderer: Renderer) -> None:
        html = "<p>before</p><script>document.body.textContent='after';for(;;);</script>"
        assert shared_renderer.render(html, "before").similarity == 1

    def test_no_request_leaves(self, shared_renderer: Renderer) -> None:
        with Listening() as (address, asked):
            html = (
                f'<link rel="stylesheet" href="{address}/a.css"><img src="{address}/b.png">'
                f"<style>@import url({address}/c.css);p{{background:url({address}/d.png)}}"
                f"@font-face{{font-family:f;src:url({address}/e.woff)}}p{{font-family:f}}</style>"
                f'<iframe src="{address}/f.html"></iframe><object data="{address}/g"></object>'
                f'<meta http-equiv="refresh" content="0;url={address}/h.html">'
                f'<video src="{address}/i.mp4" poster="{address}/j.png"></video>'
                '<img src="file:///etc/hostname"><p>still here</p>'
            )
            rendered = shared_renderer.render(html, "still here")
            assert rendered.similarity == 1
        assert asked == []

    def test_slow_document_is_refused_and_the_next_one_goes_on(self) -> None:
        # Nested tables take exponential time in a browser.
        slow = "<table><tr><td>" * 60 + "x" + "</td></tr></table>" * 60
        slow = f'<div style="columns:7">{slow * 400}</div>'
        with Renderer("chromium", Limits(seconds=0.05)) as renderer:
            with pytest.raises(RenderingError) as caught:
                renderer.render(slow, "x")
            assert caught.value.code == "too_slow"
            assert renderer._child is None
            renderer._limits = Limits()
            assert renderer.render("<p>next</p>", "next").similarity == 1

    def test_greedy_document_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(renderer_module, "_LOOK_EVERY", 0.001)
        with Renderer("chromium", Limits(megabytes=5)) as renderer:
            with pytest.raises((RenderingError, NoBrowserError)) as caught:
                renderer.render("<p>x</p>" * 5000, "x")
            assert "memory" in str(caught.value) + str(caught.value.__cause__)


def test_browser_restarts_after_some_documents() -> None:
    with Renderer("chromium", Limits(documents=2)) as renderer:
        children = []
        for _ in range(3):
            renderer.render("<p>x</p>", "x")
            assert renderer._child is not None
            children.append(renderer._child.pid)
    assert children[0] == children[1] != children[2]


def test_all_processes_end_with_the_renderer() -> None:
    with Renderer("chromium") as renderer:
        renderer.render("<p>x</p>", "x")
        assert renderer._child is not None
        members = family(renderer._child.pid)
        folder = Path(renderer._folder.name)
        assert len(members) > 2  # the child, the driver, the browser and its helpers
    # The processes are gone or zombies, perhaps after a moment on a busy machine.
    end = time.monotonic() + 10
    while (alive := [pid for pid in members if _is_running(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    assert alive == []
    assert not folder.exists()


def test_browser_that_breaks_down_costs_one_document() -> None:
    with Renderer("chromium") as renderer:
        renderer.render("<p>x</p>", "x")
        assert renderer._child is not None
        renderer._child.kill()
        renderer._child.wait()
        with pytest.raises(RenderingError, match="crashed"):
            renderer.render("<p>x</p>", "x")
        assert renderer.render("<p>x</p>", "x").similarity == 1


def test_child_knows_no_secret_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret-s3cret")
    with Renderer("chromium") as renderer:
        renderer.render("<p>x</p>", "x")
        assert renderer._child is not None
        known = Path(f"/proc/{renderer._child.pid}/environ").read_bytes()
    assert b"s3cret" not in known


def test_program_that_is_not_a_browser_is_reported() -> None:
    with (
        Renderer("true") as renderer,
        pytest.raises(NoBrowserError, match="cannot be started"),
    ):
        renderer.render("<p>x</p>", "x")


def test_missing_browser_is_reported() -> None:
    with pytest.raises(NoBrowserError, match=r"Install the package chromium.*CHROMIUM.*upload"):
        Renderer("no-such-chromium")


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Listening:
    """A server that records all requests."""

    def __enter__(self) -> tuple[str, list[str]]:
        asked: list[str] = []

        class Noting(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return None

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Noting)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}", asked

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
