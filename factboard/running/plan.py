"""The requests of a run and their estimated cost, without asking."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from scoring.answering.core import RunItem
from scoring.answering.endpoint import ImageError, input_tokens, pictures_of
from scoring.answering.prompts import PromptError
from scoring.judge.endpoint import Prices, Usage

if TYPE_CHECKING:
    from .session import Session

SHOWN = 3
# Items whose images are looked at for the estimate.
_MEASURED = 50


@dataclass(frozen=True)
class Plan:
    items: int
    examples: tuple[str, ...]
    usage: Usage | None
    """The estimated tokens; None for an engine on this machine."""


def plan_of(items: Iterable[RunItem], count: int, session: "Session") -> Plan:
    args, decoding = session.args, session.choice.decoding
    examples, tokens, measured = [], 0, 0
    try:
        for item in islice(items, _MEASURED):
            pictures = pictures_of(item)
            sizes = [picture.size for picture in pictures]
            tokens += input_tokens(item.prompt, args.system, sizes, args.image_tokens)
            measured += 1
            if measured <= SHOWN:
                shown = [
                    f"  {image.name}, {size[0]} × {size[1]} pixels, {len(picture.data):,} bytes"
                    for image, size, picture in zip(item.images, sizes, pictures, strict=True)
                ]
                head = f"── {item.id}{f' ({item.kind})' if item.kind else ''}"
                examples.append("\n".join([head, *shown, "", item.prompt, ""]))
    except ImageError as error:
        raise PromptError(str(error)) from error
    usage = None
    if session.choice.name == "openai":
        output = int(decoding["max_tokens"])
        usage = Usage(tokens * count // max(measured, 1), output * count, calls=count)
    return Plan(count, tuple(examples), usage)


def plan_text(plan: Plan, prices: Prices) -> str:
    lines = [*plan.examples, f"{plan.items:,} items; nothing was asked."]
    if plan.usage is not None:
        lines.append(
            f"About {plan.usage.input:,} input tokens, at most {plan.usage.output:,} output tokens."
        )
        if cost := prices.cost(plan.usage):
            lines.append(f"At most about {cost:.4f} USD.")
    return "\n".join(lines) + "\n"
