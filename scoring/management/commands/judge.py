"""Judges a submission with a language model, offline. Needs no database."""

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from scoring.benchmarks import Benchmark, ItemResult, OptionError, Options, Payload, get_benchmark
from scoring.benchmarks.base import Judging
from scoring.benchmarks.checking import JoinedItem, JoinedItems
from scoring.judge.asking import Asker, FolderCache, Judged, Plan, judge_all, plan
from scoring.judge.endpoint import Budget
from scoring.judging.services import (
    JudgeUnset,
    judge_budget,
    judge_cache,
    judge_model,
    judged_result,
    open_judge,
)
from scoring.management.faults import end_command
from scoring.offline.grading import (
    add_file_arguments,
    items_file,
    read_files,
    refuse_lacking,
    report,
    text_report,
)
from scoring.offline.terminal import BadInput, CommandFault, positive

# Exit code: some items have no verdict. Running the command again judges only those.
INCOMPLETE = 3
_MOST_NAMED = 20

Results = Sequence[Judged[str, ItemResult]]


class Command(BaseCommand):
    requires_system_checks: list[str] = []
    help = (
        "Judges a submission with a language model, offline and without a database. Answers are "
        "cached: running it again costs nothing for them, and continues an interrupted run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_file_arguments(parser)
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="print the maximum number of calls, tokens and cost, without making a call",
        )
        parser.add_argument(
            "--budget",
            type=_amount,
            metavar="AMOUNT",
            help="make no call that could exceed this cost, in the currency of the prices",
        )
        parser.add_argument("--cache", type=Path, help="folder of cached answers (JUDGE_CACHE)")
        parser.add_argument(
            "--concurrency",
            type=positive,
            metavar="N",
            default=settings.JUDGE_CONCURRENCY,
            help="concurrent calls (default: %(default)s)",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self._judge(**options)
        except CommandFault as fault:
            end_command(self, fault)
        except (OptionError, JudgeUnset) as error:
            end_command(self, BadInput([str(error)]))
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def _judge(self, **options: Any) -> None:
        benchmark = get_benchmark(options["benchmark"])
        judging = benchmark.judging
        if judging is None:
            raise BadInput([f"{benchmark.title} does not use a judge"])
        chosen = judging.options(dict(options["option"]), judge_model())
        refuse_lacking(benchmark, chosen)
        budget, cache = judge_budget(options["budget"]), judge_cache(options["cache"])
        with JoinedItems() as items:
            read_files(
                items,
                benchmark,
                chosen,
                options["gold"],
                options["submission"],
                raw_gold=options["raw_gold"],
            )
            if options["dry_run"]:
                self._report_plan(
                    _plan(items, judging, chosen, cache), budget, as_json=options["json"]
                )
                return
            with open_judge(budget, cache) as asker:
                results = _results(items, asker, judging, chosen, options["concurrency"])
        if options["items"]:
            _write(results, options["items"])
        self._report(benchmark, judging, chosen, results, budget, as_json=options["json"])

    def _report_plan(self, plan: Plan, budget: Budget, *, as_json: bool) -> None:
        usage = plan.usage
        planned = {
            "calls": usage.calls,
            "kept": plan.kept,
            "input_tokens": usage.input,
            "most_output_tokens": usage.output,
            "most_cost": budget.prices.cost(usage),
        }
        if as_json:
            self.stdout.write(json.dumps(planned))
            return
        self.stdout.write(
            f"{usage.calls:,} calls would be made; {plan.kept:,} answers are cached\n"
            f"about {usage.input:,} input tokens, at most {usage.output:,} output tokens, "
            f"cost at most {planned['most_cost']:.4f}, without repaired answers"
        )

    def _report(
        self,
        benchmark: Benchmark,
        judging: Judging,
        options: Options,
        results: Results,
        budget: Budget,
        *,
        as_json: bool,
    ) -> None:
        judged_items = [judged.result for judged in results if judged.result is not None]
        scores = benchmark.aggregate(judged_items, options)
        summary = judging.summary(judged_items)
        unscored = [(judged.item, judged.reason) for judged in results if judged.result is None]
        if as_json:
            whole = {
                **report(benchmark, options, scores),
                "summary": summary,
                "usage": {**vars(budget.usage), "cost": budget.spent},
                "unscored": [{"id": item, "reason": reason} for item, reason in unscored],
                "verdicts": [_verdict(result) for result in judged_items],
            }
            self.stdout.write(json.dumps(whole, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(text_report(benchmark, options, scores)))
            self.stdout.write("\n".join(_text(summary, budget)))
        if unscored:
            self._name(unscored)
            sys.exit(INCOMPLETE)

    def _name(self, unscored: Sequence[tuple[str, str]]) -> None:
        for item, reason in unscored[:_MOST_NAMED]:
            self.stderr.write(f"{item}: unscored: {reason}")
        more = len(unscored) - _MOST_NAMED
        if more > 0:
            self.stderr.write(f"and {more:,} more")
        self.stderr.write(
            f"{len(unscored):,} items have no verdict and are not counted; run again to judge them"
        )


def _results(
    items: JoinedItems, asker: Asker, judging: Judging, options: Options, concurrency: int
) -> Results:
    with items.path.open("rb") as file:
        work = partial(_judge_item, file.fileno(), asker, judging, options)
        results = judge_all(_places(items), work, concurrency)
        return [
            Judged(_id(file.fileno(), judged.item), judged.result, judged.reason)
            for judged in tqdm(results, total=len(items), unit="item", leave=False, disable=None)
        ]


def _judge_item(
    file: int, asker: Asker, judging: Judging, options: Options, item: JoinedItem
) -> ItemResult:
    gold, prediction = _payloads(file, item)
    return judged_result(asker, judging, gold, prediction, options)


def _plan(items: JoinedItems, judging: Judging, options: Options, cache: FolderCache) -> Plan:
    with items.path.open("rb") as file:
        questions = (
            question
            for item in _places(items)
            for question in judging.questions(*_payloads(file.fileno(), item), options)
        )
        return plan(questions, cache, judge_model())


def _places(items: JoinedItems) -> Iterator[JoinedItem]:
    return (item for chunk in items.chunks() for item in chunk)


def _payloads(file: int, item: JoinedItem) -> tuple[Payload, Payload | None]:
    prediction = item.prediction.read(file) if item.prediction else None
    return item.gold.read(file), prediction


def _id(file: int, item: JoinedItem) -> str:
    return str(item.gold.read(file)["id"])


def _write(results: Results, path: Path) -> None:
    with items_file(path) as file:
        for judged in results:
            if judged.result is not None:
                file.write(judged.result)


def _verdict(result: ItemResult) -> dict[str, Any]:
    """The judge's answer for an item, and the resulting verdicts."""
    said = result.get("judge", {})
    return {
        "id": result["id"],
        **said,
        **{k: result[k] for k in ("facts", "fields") if k in result},
    }


def _text(summary: dict[str, Any], budget: Budget) -> Iterator[str]:
    if summary:
        yield "\nJudge"
    for name, value in summary.items():
        shown = "n/a" if value is None else f"{value:.2f}" if isinstance(value, float) else value
        yield f"  {name:<18} {shown:>9}"
    usage = budget.usage
    yield (
        f"\n{usage.calls:,} calls answered in {usage.attempts:,} attempts, {usage.input:,} input "
        f"and {usage.output:,} output tokens, cost {budget.spent_text() or 0}"
    )


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not an amount of money")
    return value
