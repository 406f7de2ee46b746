"""Pages of boards: the list, a board with its leaderboard, its tasks, and its settings."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.models import Release, ReleaseItem
from portal.web.conditional import conditional
from scoring.access import board_for
from scoring.benchmarks import BENCHMARKS, Benchmark, benchmark_card
from scoring.judging.services import judge_fault, known_judge
from scoring.leaderboard.columns import group_names, sort_columns
from scoring.leaderboard.filters import RowFilterForm
from scoring.leaderboard.selectors import stamped_board
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase
from scoring.models.submissions import CARD_FIELDS
from scoring.web import upload_response

from .page import leaderboard_page
from .protection import is_unprotected, leaks, warnings
from .selectors import boards_for_list, example_file, task_tree_page
from .services import (
    BOARD_SETTINGS,
    PHASE_SETTINGS,
    BoardRefused,
    DisclosureUnconfirmed,
    NewPhase,
    add_phase,
    create_board,
    edit_board,
    edit_phase,
    phase_faults,
    phase_slug,
    set_board_state,
)

_DOCS_LINK = re.compile(r"\]\(\.\./\.\./\.\./docs/([\w/-]+)\.md")


class _WithOptions(forms.ModelForm):  # type: ignore[type-arg]
    """A form with the benchmark's options, as JSON."""

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise ValidationError('The options must be an object, such as {"missing": "skip"}.')
        return options


class BoardForm(_WithOptions):
    """A new board with its first phase."""

    benchmark = forms.ChoiceField()
    phase_title = forms.CharField(
        max_length=80, initial="Test", label="First phase", help_text="Such as Test or Development."
    )
    release = forms.ModelChoiceField(
        queryset=Release.objects.none(),
        help_text="The gold that submissions are graded against.",
    )
    options = forms.JSONField(
        required=False,
        initial=dict,
        help_text="JSON object with options that differ from the defaults.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    diagnostics = forms.ChoiceField(
        choices=Phase.Diagnostics,
        initial=Phase.Diagnostics.AGGREGATES,
        label="Submitters see",
        help_text="How much of the single items. Every fact includes its gold value.",
    )
    opens_at = forms.DateTimeField(required=False, label="Opens (UTC)")
    closes_at = forms.DateTimeField(required=False, label="Closes (UTC)")

    class Meta:
        model = Board
        fields = ["title", "slug", "benchmark", "description"]
        help_texts = {"slug": "Used in the URL: /boards/SLUG/."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        benchmark = self.fields["benchmark"]
        assert isinstance(benchmark, forms.ChoiceField)
        benchmark.choices = [(key, spec.title) for key, spec in BENCHMARKS.items()]
        release = self.fields["release"]
        assert isinstance(release, forms.ModelChoiceField)
        release.queryset = Release.objects.select_related("dataset")
        for name in ("opens_at", "closes_at"):
            self.fields[name].widget = forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            )

    @property
    def specs(self) -> list[Benchmark]:
        """The available benchmarks, for the list of their options."""
        return list(BENCHMARKS.values())

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == "new":
            raise ValidationError("“new” is reserved. Choose another slug.")
        return slug

    def clean(self) -> dict[str, Any]:
        """Checks rules over several fields, if none of these fields has an error."""
        data = super().clean() or self.cleaned_data
        needed = {"benchmark", "release", "options", "phase_title", "diagnostics"}
        if needed <= data.keys():
            for field, message in phase_faults(data["benchmark"], self.new_phase()).items():
                self.add_error(field, message)
        return data

    def new_board(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.Meta.fields}

    def new_phase(self) -> NewPhase:
        data = self.cleaned_data
        return NewPhase(
            slug=phase_slug(data["phase_title"]),
            title=data["phase_title"],
            release=data["release"],
            diagnostics=data["diagnostics"],
            options=data["options"],
            opens_at=data.get("opens_at"),
            closes_at=data.get("closes_at"),
        )


class BoardStateForm(forms.Form):
    """Who sees a board, and whether it takes submissions."""

    state = forms.ChoiceField(
        choices=[
            (Board.State.DRAFT, "draft: visible to organisers only"),
            (Board.State.OPEN, "open: visible to everyone, accepts submissions"),
            (Board.State.ARCHIVED, "archived: visible to everyone, closed for submissions"),
        ]
    )
    confirm_disclosure = forms.BooleanField(required=False, label="Make this public")

    def new_state(self) -> Board.State:
        return Board.State(self.cleaned_data["state"])


class BoardSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of an existing board."""

    card_fields = forms.MultipleChoiceField(
        required=False,
        choices=[(name, name.replace("_", " ").capitalize()) for name in CARD_FIELDS[1:]],
        widget=forms.CheckboxSelectMultiple,
        label="Required fields of the model card",
        help_text="The name is always required.",
    )
    column_groups = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Columns shown",
        help_text="Select none to show all. The group of the deciding rank is always shown, and "
        "ranks use all figures.",
    )
    default_sort = forms.ChoiceField(
        required=False, label="Sorted by", help_text="Readers can choose another column."
    )

    class Meta:
        model = Board
        fields = BOARD_SETTINGS

    field_order = ["title", "description", "rules", "card_fields", "column_groups"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sort = self.fields["default_sort"]
        assert isinstance(sort, forms.ChoiceField)
        sort.choices = [("", "the deciding rank"), *sort_columns(self.instance)]
        groups = self.fields["column_groups"]
        assert isinstance(groups, forms.MultipleChoiceField)
        groups.choices = [(name, name) for name in group_names(self.instance)]


TIMES = ("opens_at", "closes_at", "scores_after")
LOCAL = "%Y-%m-%dT%H:%M"


class PhaseForm(_WithOptions):
    """A new phase of a board, or the settings of an existing one."""

    is_protected = forms.BooleanField(
        required=False,
        label="Protect hidden gold",
        help_text="If the gold is hidden, empty limits and decimals get safe values, and "
        "incomplete files are refused.",
    )
    confirm_disclosure = forms.BooleanField(
        required=False,
        label="Make it public",
        help_text="Required for a private release on a board that everyone can see.",
    )

    field_order = ["title", "release", "split", "options", "diagnostics", "is_protected"]

    class Meta:
        model = Phase
        fields = PHASE_SETTINGS
        labels = {
            "split": "Part of the release",
            "diagnostics": "Submitters see",
            "opens_at": "Opens",
            "closes_at": "Closes",
            "per_day": "Scores per day",
            "in_total": "Scores in total",
            "failed_per_day": "Failed attempts per day",
            "takes_incomplete": "Accept incomplete files",
            "score_decimals": "Decimals of scores",
            "scores_after": "Show scores from",
            "public_share": "Public share (%)",
        }

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.board = board
        release = self.fields["release"]
        assert isinstance(release, forms.ModelChoiceField)
        release.queryset = Release.objects.filter(benchmark=board.benchmark).select_related(
            "dataset"
        )
        split = self.fields["split"]
        assert isinstance(split, forms.ChoiceField)
        split.choices = [("", "all of it"), *ReleaseItem.Split.choices]
        self.fields["time_zone"].widget = forms.TextInput(attrs={"list": "time-zones"})
        self.fields["options"].widget = forms.Textarea(
            attrs={"rows": 3, "class": "mono", "spellcheck": "false"}
        )
        for name in TIMES:
            self.fields[name].widget = forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format=LOCAL
            )
            self.initial[name] = self._local(getattr(self.instance, name))
        stored = self.instance if self.instance.pk else None
        self.fields["is_protected"].initial = stored is None or not leaks(stored)
        if board.is_draft:
            del self.fields["confirm_disclosure"]
        if stored and stored.submissions.exists():
            # These settings decide results. Changing them needs a new phase or a re-grade.
            for name in ("release", "split", "options", "public_share"):
                self.fields[name].disabled = True

    @property
    def zones(self) -> list[str]:
        return sorted(available_timezones())

    def _local(self, when: datetime | None) -> str:
        if when is None:
            return ""
        return when.astimezone(ZoneInfo(self.instance.time_zone)).strftime(LOCAL)

    def clean_time_zone(self) -> str:
        zone: str = self.cleaned_data["time_zone"].strip()
        if zone not in available_timezones():
            raise ValidationError(
                f"There is no time zone “{zone}”. Enter a name such as UTC or Europe/Berlin."
            )
        return zone

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for name in TIMES:
            self._read_local(data, name)
        if not self.errors:
            former = self.instance if self.instance.pk else None
            faults = phase_faults(self.board.benchmark, self.new_phase(), former=former)
            for field, message in faults.items():
                self.add_error(field, message)
        return data

    def _read_local(self, data: dict[str, Any], name: str) -> None:
        """Django reads the time as UTC, but it is the local time in the phase's time zone."""
        when, zone = data.get(name), data.get("time_zone")
        if when is None or zone is None:
            return
        local = when.replace(tzinfo=ZoneInfo(zone))
        if local.astimezone(UTC).astimezone(local.tzinfo).replace(fold=0) != local:
            self.add_error(name, f"This time does not exist in {zone}: the clocks change then.")
        data[name] = local.astimezone(UTC)

    def _post_clean(self) -> None:
        """Leaves the instance unchanged, because the service writes it."""

    def new_phase(self) -> NewPhase:
        data = self.cleaned_data
        slug = self.instance.slug or phase_slug(data["title"])
        said = {name: data[name] for name in PHASE_SETTINGS}
        if data["is_protected"]:
            said = {name: value for name, value in said.items() if not is_unprotected(name, value)}
        return NewPhase(slug=slug, **said)

    @property
    def confirms_disclosure(self) -> bool:
        return bool(self.cleaned_data.get("confirm_disclosure"))


@organiser_required
def board_settings(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = BoardSettingsForm(request.POST if request.method == "POST" else None, instance=board)
    if request.method == "POST" and form.is_valid():
        edit_board(board=board, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Settings saved.")
        return redirect("scoring:board-manage", board.slug)
    context = {"board": board, "form": form}
    status = 400 if form.errors else 200
    return render(request, "scoring/boards/board_settings.html", context, status=status)


@organiser_required
def new_phase(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = PhaseForm(request.POST if request.method == "POST" else None, board=board)
    if request.method == "POST" and form.is_valid():
        save = partial(add_phase, board=board, phase=form.new_phase(), actor=request.user)
        if phase := _saved(form, save):
            return _go_on(request, phase, "added")
    return _phase_page(request, board, form, None)


@organiser_required
def edit(request: UserRequest, slug: str, phase: str) -> HttpResponse:
    board = board_for(request.user, slug)
    found = get_object_or_404(board.phases.select_related("board", "release__dataset"), slug=phase)
    form = PhaseForm(
        request.POST if request.method == "POST" else None, instance=found, board=board
    )
    if request.method == "POST" and form.is_valid():
        save = partial(edit_phase, phase=found, wanted=form.new_phase(), actor=request.user)
        if saved := _saved(form, save):
            return _go_on(request, saved, "saved")
    return _phase_page(request, board, form, found)


def _saved(form: PhaseForm, save: Callable[..., Phase]) -> Phase | None:
    """The phase, or None with the reason in the form."""
    try:
        return save(confirm_disclosure=form.confirms_disclosure)
    except DisclosureUnconfirmed as refusal:
        form.add_error("confirm_disclosure", f"{refusal} To continue, select “Make it public”.")
    except BoardRefused as refusal:
        form.add_error(None, str(refusal))
    return None


def _go_on(request: UserRequest, phase: Phase, done: str) -> HttpResponse:
    messages.success(request, f"Phase “{phase.title}” {done}.")
    _warn_of_judge(request, phase)
    warn_of(request, phase)
    return redirect("scoring:board-manage", phase.board.slug)


def warn_of(request: UserRequest, phase: Phase) -> None:
    """Adds warnings about what the phase makes public or reveals of hidden gold."""
    for words in warnings(phase):
        messages.warning(request, f"{phase.title}: {words}")


def _phase_page(
    request: UserRequest, board: Board, form: PhaseForm, phase: Phase | None
) -> HttpResponse:
    context = {
        "board": board,
        "form": form,
        "phase": phase,
        "defaults": json.dumps(board.spec.check_options({}), ensure_ascii=False),
        "judge": known_judge(board),
        "warnings": warnings(phase) if phase else [],
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/boards/phase.html", context, status=status)


def _warn_of_judge(request: UserRequest, phase: Phase) -> None:
    if fault := judge_fault(phase.board, phase.options):
        messages.warning(request, f"Gradings of this phase wait for the judge: {fault}")


@require_safe
def boards(request: HttpRequest) -> HttpResponse:
    context = {"boards": boards_for_list(request.user), "may_manage": is_organiser(request.user)}
    return render(request, "scoring/boards/boards.html", context)


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Readers without an account get an ETag. Other pages depend on the user."""
    stamped = stamped_board(request.user, slug)
    form = RowFilterForm(request.GET)
    asked = {name: request.GET.get(name, "") for name in ("phase", "sort", "view", "part")}
    filtered = {name: request.GET.getlist(name) for name in form.fields}
    stamp = stamped.stamp(request.user, {**asked, **filtered})

    def page() -> HttpResponse:
        shown = leaderboard_page(
            request.user,
            stamped.board,
            wanted=form.wanted(),
            windows=stamped.windows,
            stamp=stamp,
            **asked,
        )
        link = request.build_absolute_uri(f"{request.path}?{shown.link_query}")
        context = {"page": shown, "form": form, "link": link}
        return render(request, "scoring/boards/board.html", context)

    if request.user.is_authenticated or not stamp:
        return page()
    response = conditional(request, stamp, page)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """The benchmark's card: what is counted, with sources, licence and citation."""
    board = board_for(request.user, slug)
    title, _, card = benchmark_card(board.benchmark).partition("\n")
    # Links to files of the repository become links to the documentation on this site.
    card = _DOCS_LINK.sub(lambda link: f"]({reverse('docs:page', args=[link[1]])}", card)
    context = {"board": board, "title": title.removeprefix("# "), "card": card}
    return render(request, "scoring/boards/benchmark.html", context)


@require_safe
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """The benchmark's task tree, with examples."""
    page = task_tree_page(board_for(request.user, slug))
    return render(request, "scoring/boards/tasks.html", {"page": page})


@require_safe
def example(request: HttpRequest, slug: str) -> FileResponse:
    """A sample submission's file, to try the board with."""
    found = example_file(board_for(request.user, slug))
    if found is None:
        raise Http404("This board has no example file.")
    return upload_response(found.submission, name=found.name)


@organiser_required
def new_board(request: UserRequest) -> HttpResponse:
    # A release's page links here with itself as the choice.
    chosen = {"release": request.GET.get("release")}
    form = BoardForm(request.POST if request.method == "POST" else None, initial=chosen)
    if form.is_valid():
        board = create_board(**form.new_board(), phase=form.new_phase(), actor=request.user)
        load_reported(board=board, actor=request.user)
        messages.success(request, "Board created as a draft. Only organisers can see it.")
        for phase in board.phases.select_related("release__dataset"):
            warn_of(request, phase)
        return redirect(board)
    status = 400 if form.errors else 200
    return render(request, "scoring/boards/new_board.html", {"form": form}, status=status)


@organiser_required
@require_POST
def change_state(request: UserRequest, slug: str) -> HttpResponse:
    board, form = board_for(request.user, slug), BoardStateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose draft, open or archived.")
        return redirect(board)
    try:
        set_board_state(
            board=board,
            state=form.new_state(),
            actor=request.user,
            confirm_disclosure=form.cleaned_data["confirm_disclosure"],
        )
    except DisclosureUnconfirmed as refusal:
        messages.error(request, f"{refusal} To continue, select “Make this public”.")
        return redirect("scoring:board-manage", board.slug)
    messages.success(request, f"“{board.title}” is now {board.get_state_display().lower()}.")
    return redirect(board)
