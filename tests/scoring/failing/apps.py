"""Makes the scorer of one benchmark die, or ask for more memory than there is, at certain items."""

import os
import time
from dataclasses import replace
from typing import Any

from django.apps import AppConfig

# Of each item: long enough to be killed in, also where it takes seconds to look.
SECONDS = float(os.environ.get("SCORING_SECONDS", "0.05"))
MORE_THAN_THERE_IS = 1 << 40


class PoisonConfig(AppConfig):
    name = "tests.scoring.failing"
    label = "failing"

    def ready(self) -> None:
        from scoring.benchmarks import BENCHMARKS

        spec = BENCHMARKS["fincriticaled"]

        def score(gold: Any, prediction: Any, options: Any) -> Any:
            time.sleep(SECONDS)
            if gold["id"].startswith("dies"):
                os._exit(11)
            if gold["id"].startswith("grows"):
                bytearray(MORE_THAN_THERE_IS)
            return spec.score_item(gold, prediction, options)

        BENCHMARKS["fincriticaled"] = replace(spec, score_item=score)
