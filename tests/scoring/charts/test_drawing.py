"""The process that draws charts."""

from collections.abc import Iterator
from typing import Any

import pytest

from scoring.charts import drawing
from scoring.charts.drawing import DrawingError, Engine, Form, draw_svg


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A drawing process that ends with the test."""
    engine = Engine()
    yield engine
    engine.stop()


SPEC = {"data": {"values": [{}]}, "mark": "point"}


def test_one_process_draws_many_charts_and_ends_by_itself(engine: Engine) -> None:
    assert engine.draw("svg", SPEC)
    process = engine._process
    assert process is not None
    forms: tuple[Form, ...] = ("svg", "png", "svg")
    for form in forms:
        assert engine.draw(form, SPEC)
    assert engine._process is process
    # It ends when no more requests can come, for example because the site was stopped.
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0


def test_a_process_that_has_ended_is_replaced(engine: Engine) -> None:
    assert engine.draw("svg", SPEC)
    assert engine._process is not None
    engine._process.terminate()
    assert engine.draw("svg", SPEC).startswith("<svg")


def test_drawing_that_takes_too_long_is_given_up(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "_SECONDS", 0.001)
    with pytest.raises(DrawingError):
        engine.draw("svg", SPEC)
    assert engine._process is None, "its late response must not be taken for that of another chart"
    monkeypatch.undo()
    assert engine.draw("svg", SPEC)


def test_a_chart_that_fails_does_not_stop_the_next(engine: Engine) -> None:
    with pytest.raises(DrawingError):
        engine.draw("svg", {"mark": "no such mark"})
    assert engine.draw("svg", SPEC)


def test_the_process_that_draws_gets_no_secret(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_to: dict[str, Any] = {}

    def popen(*_: Any, **options: Any) -> Any:
        given_to.update(options["env"])
        raise OSError

    monkeypatch.setenv("SECRET_KEY", "hidden")
    monkeypatch.setattr("scoring.charts.drawing.subprocess.Popen", popen)
    with pytest.raises(DrawingError):
        engine.draw("svg", SPEC)
    assert "PATH" in given_to
    assert "SECRET_KEY" not in given_to


def test_a_wrong_specification_is_refused_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(DrawingError):
        draw_svg({"layer": [{"mark": "no such mark"}]})
    assert "could not be drawn" in caplog.text
