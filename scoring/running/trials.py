"""A test question to a board's endpoint for models: whether it reads a picture."""

import io
import time

from django.conf import settings
from PIL import Image, ImageDraw, ImageFont

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.answering.core import EngineAnswer, ImageSource, RunItem
from scoring.judge.endpoint import Stopped
from scoring.judging.services import JudgingRefused, Trial, own_judge
from scoring.models import Board

from .runs import open_engine
from .services import endpoint_for

AMOUNT = "1,250.00"
_QUESTION = "Which amount does the picture show? Answer with the amount alone."
_DECODING = {"temperature": 0, "max_tokens": 1_000}
# A user waits for the page.
_SECONDS = 30
_LONGEST_ANSWER = 100


def try_model(*, board: Board, actor: User | None) -> Trial:
    """Asks the board's model which amount a small picture shows. Raises RunRefused.

    The question costs money like any other. It is asked once.
    """
    own = endpoint_for(board)
    began = time.monotonic()
    with open_engine(
        own_judge(own),
        board.pk,
        what="try",
        decoding=_DECODING,
        timeout=min(settings.JUDGE_TIMEOUT, _SECONDS),
        attempts=1,
    ) as (engine, budget):
        picture = ImageSource("test.png", _picture)
        try:
            answer = engine.answer(RunItem("test", _QUESTION, (picture,), question=_QUESTION))
        except (Stopped, JudgingRefused) as stopped:
            answer = EngineAnswer(state="failed", reason=str(stopped))
        usage, cost = budget.usage, budget.spent
    milliseconds = round((time.monotonic() - began) * 1000)
    record_event(verb="try_model_endpoint", subject=board, actor=actor, cost=cost)
    fault = "" if answer.state == "answered" else answer.reason or "the answer is empty"
    text = " ".join(answer.text.split())[:_LONGEST_ANSWER]
    return Trial(own.model, milliseconds, usage, cost, fault, text)


def _picture() -> bytes:
    image = Image.new("RGB", (320, 80), "white")
    font = ImageFont.load_default(size=36)
    ImageDraw.Draw(image).text((20, 18), f"Total {AMOUNT}", fill="black", font=font)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
