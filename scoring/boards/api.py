"""Endpoints of boards and of their phases."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from zoneinfo import available_timezones

from django.db import models, transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser, is_organiser
from portal.accounts.teams.selectors import teams_of
from portal.datasets.models import Release
from portal.web.answers import ListingView, answer
from scoring.access import board_for, may_open_release
from scoring.benchmarks import BENCHMARKS
from scoring.leaderboard.columns import group_names, sort_columns
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase, Window
from scoring.models.boards import local_time, phase_window, phase_windows
from scoring.models.submissions import CARD_FIELDS
from scoring.web import ConflictError, DetailSerializer, OrganisersChange, actor_of

from .alike import KINDS, Sign, signs
from .limits import Allowance, Asker, Quota, askers, quota, team_quotas
from .protection import (
    PHASE_SETTINGS,
    PROTECTED,
    TIMES,
    NewPhase,
    all_warnings,
    outgrown_settings,
    warnings,
)
from .selectors import boards_for_list, phase_ids
from .services import (
    BOARD_SETTINGS,
    BoardRefused,
    DisclosureUnconfirmed,
    add_phase,
    create_board,
    edit_board,
    edit_phase,
    phase_faults,
    phase_slug,
    set_board_state,
)

_SETTINGS = ("dataset", *PHASE_SETTINGS)


class PhaseSerializer(serializers.ModelSerializer[Phase]):
    """A phase; `window` is its current state."""

    dataset = serializers.CharField(source="release.dataset.slug")
    release = serializers.CharField(source="release.version")
    options = serializers.DictField(child=serializers.CharField())
    window = serializers.ChoiceField(choices=Window.choices)
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Phase
        fields = ["slug", *_SETTINGS, "window", "warnings"]

    def get_warnings(self, phase: Phase) -> list[str]:
        """For organisers: what the phase makes public about a private release, and how its settings
        reveal hidden gold."""
        return warnings(phase) if self.context.get("for_organisers") else []

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """`instance` is a PhaseWindow."""
        instance.phase.window = instance.window
        return super().to_representation(instance.phase)


class BoardSerializer(serializers.ModelSerializer[Board]):
    column_groups = serializers.ListField(child=serializers.CharField())
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = Board
        fields = ["slug", "benchmark", *BOARD_SETTINGS, "state", "is_sample", "warnings"]

    def get_warnings(self, board: Board) -> list[str]:
        """For organisers: what the phases make public about private releases, and how their
        settings reveal hidden gold."""
        if not self.context.get("for_organisers"):
            return []
        by_phase = all_warnings(window.phase for window in phase_windows(board))
        return [f"{phase.title}: {words}" for phase, sentences in by_phase for words in sentences]


class BoardLineSerializer(serializers.Serializer[Any]):
    """A board with its phases and the number of its rows."""

    slug = serializers.SlugField()
    title = serializers.CharField()
    benchmark = serializers.CharField()
    description = serializers.CharField()
    state = serializers.ChoiceField(choices=Board.State.choices)
    is_sample = serializers.BooleanField()
    graded = serializers.IntegerField()
    reported = serializers.IntegerField()
    phases = PhaseSerializer(many=True, source="windows")


class BoardChangeSerializer(serializers.ModelSerializer[Board]):
    """Changes of a board's settings. Settings that are left out stay as they are."""

    state = serializers.ChoiceField(choices=Board.State.choices, required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="Confirms that information about private releases becomes public.",
    )
    card_fields = serializers.ListField(
        child=serializers.ChoiceField(choices=CARD_FIELDS), required=False
    )
    column_groups = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Groups of columns that are shown; empty: all.",
    )

    class Meta:
        model = Board
        fields = ["state", "confirm_disclosure", *BOARD_SETTINGS]

    def validate_column_groups(self, value: list[str]) -> list[str]:
        known = group_names(self.context["board"])
        if unknown := [name for name in value if name not in known]:
            raise serializers.ValidationError(
                f"There is no column group {unknown[0]!r}. Choose from {known}."
            )
        return [name for name in known if name in value]

    def validate_default_sort(self, value: str) -> str:
        known = [key for key, _ in sort_columns(self.context["board"])]
        if value and value not in known:
            message = f"This board has no such column. Choose from {known}."
            raise serializers.ValidationError(message)
        return value


def _limit(help_text: str, *, least: int = 1) -> serializers.IntegerField:
    """A setting with a safe default on hidden gold."""
    return serializers.IntegerField(
        required=False, allow_null=True, min_value=least, help_text=help_text
    )


_PHASE_FIELDS = ("diagnostics", "options", "opens_at", "closes_at", *PROTECTED)


class NewBoardSerializer(serializers.Serializer[Any]):
    """A new board with its first phase, on a release of a dataset.

    Defaults on hidden gold are 3 scores per day, 20 in total, 1 decimal and no incomplete files. If
    other settings reveal hidden gold, the response says so in `warnings`.
    """

    slug = serializers.SlugField(max_length=80)
    title = serializers.CharField(max_length=160)
    benchmark = serializers.ChoiceField(choices=[(key, key) for key in BENCHMARKS])
    description = serializers.CharField(required=False, default="", allow_blank=True)
    phase_title = serializers.CharField(max_length=80, default="Test")
    dataset = serializers.SlugField(help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, help_text="The release's version.")
    options = serializers.DictField(child=serializers.CharField(), required=False, default=dict)
    diagnostics = serializers.ChoiceField(
        choices=Phase.Diagnostics.choices, default=Phase.Diagnostics.AGGREGATES
    )
    opens_at = serializers.DateTimeField(required=False, default=None, allow_null=True)
    closes_at = serializers.DateTimeField(required=False, default=None, allow_null=True)
    per_day = _limit("Scores within 24 hours; null: no limit.")
    in_total = _limit("Scores in total; null: no limit.")
    score_decimals = _limit("Decimals of percentages; null: all.", least=0)
    closing_share = _limit(
        "Percent of the facts of hidden gold that a person can have learnt before the phase closes "
        "to them; null: no limit."
    )
    takes_incomplete = serializers.BooleanField(
        required=False, help_text="Whether a file may lack predictions for some items."
    )

    def validate_slug(self, value: str) -> str:
        if value == "new" or Board.objects.filter(slug=value).exists():
            message = "A board with this slug already exists. Choose another slug."
            raise serializers.ValidationError(message)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        title = attrs.pop("phase_title")
        phase = NewPhase(
            slug=phase_slug(title),
            title=title,
            release=_release(attrs.pop("dataset"), attrs.pop("release")),
            **{key: attrs.pop(key) for key in _PHASE_FIELDS if key in attrs},
        )
        if faults := phase_faults(attrs["benchmark"], phase):
            raise serializers.ValidationError(dict(faults))
        return {**attrs, "phase": phase}


class _ClockField(serializers.DateTimeField):
    """A time that stays without a zone if it is sent without one."""

    def enforce_timezone(self, value: datetime) -> datetime:
        return value if timezone.is_naive(value) else super().enforce_timezone(value)


class NewPhaseSerializer(serializers.ModelSerializer[Phase]):
    """A new phase, or changes of one. Times without an offset from UTC are in `time_zone`.

    Defaults on hidden gold are 3 scores per day, 20 in total, 1 decimal and no incomplete files.
    Null removes a limit. If the settings reveal hidden gold, the response says so in `warnings`.

    Needs `board` in its context and, for a change, the phase as its instance.
    """

    dataset = serializers.SlugField(required=False, help_text="The dataset's slug.")
    release = serializers.CharField(max_length=32, required=False, help_text="Its version.")
    options = serializers.DictField(child=serializers.CharField(), required=False)
    confirm_disclosure = serializers.BooleanField(
        required=False,
        default=False,
        write_only=True,
        help_text="Confirms that information about a private release becomes public.",
    )

    class Meta:
        model = Phase
        fields = [*_SETTINGS, "confirm_disclosure"]

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.DateTimeField: _ClockField,
    }

    def validate_time_zone(self, value: str) -> str:
        if value not in available_timezones():
            raise serializers.ValidationError("Enter a time zone such as Europe/Berlin.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        confirm = attrs.pop("confirm_disclosure", False)
        if "release" in attrs or "dataset" in attrs or self.instance is None:
            attrs["release"] = _release(attrs.get("dataset"), attrs.get("release"))
        attrs.pop("dataset", None)
        data = self._stored(attrs) | attrs
        data |= _in_utc(attrs, data.get("time_zone", "UTC"))
        slug = self.instance.slug if self.instance else phase_slug(data["title"])
        phase = NewPhase(slug=slug, **data)
        faults = phase_faults(self.context["board"].benchmark, phase, former=self.instance)
        if faults:
            raise serializers.ValidationError(dict(faults))
        return {"phase": phase, "confirm_disclosure": confirm}

    def _stored(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The current settings, protected if the phase moves from public to hidden gold."""
        phase = self.instance
        if phase is None:
            return {}
        stored = {name: getattr(phase, name) for name in PHASE_SETTINGS}
        release, split = (attrs.get(name, stored[name]) for name in ("release", "split"))
        return stored | outgrown_settings(phase, release, split)


def _in_utc(attrs: dict[str, Any], zone: str) -> dict[str, datetime]:
    """The times that were sent without an offset, read in this time zone."""
    times = {}
    for name in TIMES:
        when = attrs.get(name)
        if when is not None and timezone.is_naive(when):
            try:
                times[name] = local_time(when, zone)
            except ValueError as error:
                raise serializers.ValidationError({name: str(error)}) from error
    return times


def _release(dataset: str | None, version: str | None) -> Release:
    if not dataset or not version:
        message = "Enter the dataset and the version of the release."
        raise serializers.ValidationError({"release": message})
    releases = Release.objects.select_related("dataset")
    release = releases.filter(dataset__slug=dataset, version=version).first()
    if release is None:
        raise serializers.ValidationError({"release": "This dataset has no such release."})
    return release


class PhaseIdsSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(child=serializers.CharField())


AllowanceSerializer = answer(
    Allowance,
    leave_out=["name"],
    held="Submissions that are being graded.",
    left=serializers.IntegerField(),
    free_at="When the next attempt becomes free; null while some are left.",
)
_REFUSAL = serializers.CharField(
    help_text="Why a submission is refused now; empty if it is accepted."
)
TeamQuotaSerializer = answer(
    Quota,
    "TeamQuota",
    leave_out=["phase", "holder", "learnt"],
    refusal=_REFUSAL,
    team=serializers.SlugField(source="team.slug"),
)
QuotaSerializer = answer(
    Quota,
    leave_out=["phase", "holder", "team", "learnt"],
    refusal=_REFUSAL,
    teams=TeamQuotaSerializer(many=True, help_text="The user's teams, each with its own quota."),
)


@contextmanager
def board_refusals() -> Iterator[None]:
    """Turns refusals into 409, and names the field that confirms a disclosure."""
    try:
        yield
    except DisclosureUnconfirmed as refusal:
        detail = f"{refusal} To continue, send confirm_disclosure=true."
        raise ConflictError(detail) from refusal
    except BoardRefused as refusal:
        raise ConflictError(str(refusal)) from refusal


def _board_shown(request: Request, board: Board) -> Any:
    context = {"for_organisers": is_organiser(request.user)}
    return BoardSerializer(board, context=context).data


class BoardList(ListingView):
    """Lists the boards the user may see. Organisers can create boards, each with a first phase."""

    queryset = Board.objects.none()
    serializer_class = BoardLineSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardLineSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.listed(boards_for_list(request.user))

    @extend_schema(request=NewBoardSerializer, responses={201: BoardSerializer})
    def post(self, request: Request) -> Response:
        wanted = NewBoardSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        board = create_board(**wanted.validated_data, actor=actor_of(request))
        load_reported(board=board, actor=actor_of(request))
        return Response(_board_shown(request, board), status.HTTP_201_CREATED)


class BoardDetail(APIView):
    """One board. Organisers can change its settings and its state."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_board_shown(request, board_for(request.user, slug)))

    @extend_schema(
        request=BoardChangeSerializer, responses={200: BoardSerializer, 409: DetailSerializer}
    )
    def patch(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = BoardChangeSerializer(data=request.data, partial=True, context={"board": board})
        wanted.is_valid(raise_exception=True)
        changes, actor = dict(wanted.validated_data), actor_of(request)
        state, confirm = changes.pop("state", None), changes.pop("confirm_disclosure", False)
        with board_refusals(), transaction.atomic():
            board = edit_board(board=board, changes=changes, actor=actor)
            if state is not None:
                board = set_board_state(
                    board=board,
                    state=Board.State(state),
                    actor=actor,
                    confirm_disclosure=confirm,
                )
        return Response(_board_shown(request, board))


def _phase(request: Request, slug: str, phase: str) -> Phase:
    phases = board_for(request.user, slug).phases.select_related("board", "release__dataset")
    return get_object_or_404(phases, slug=phase)


def _phase_shown(request: Request, phase: Phase) -> Response:
    shown: Any = phase_window(phase)
    context = {"for_organisers": is_organiser(request.user)}
    return Response(PhaseSerializer(shown, context=context).data)


SignSerializer = answer(
    Sign,
    kind=serializers.ChoiceField(choices=[(kind, kind) for kind in KINDS]),
    words="The sign as a sentence.",
)


class BoardSigns(APIView):
    """Signs that several accounts on the hidden gold of a board are one person, or that a file only
    tries the gold. They prove nothing. For organisers."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=SignSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        windows = phase_windows(board_for(request.user, slug))
        found = signs(window.phase for window in windows)
        return Response(SignSerializer(found, many=True).data)


AskerSerializer = answer(
    Asker,
    "BoardAsker",
    names="The accounts of the person.",
    scored="Scores on the hidden gold of this board.",
    failed="Attempts without a score.",
    files="SHA-256 of the files that were deleted with an account.",
    facts="The most facts that all scores on this gold can have revealed, on any board; null for "
    "scores from before this was counted.",
    share="Their share of the facts of the gold.",
)


class BoardAskers(APIView):
    """Who received scores on the hidden gold of a board, and how much these can have revealed at
    most. For organisers."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=AskerSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        windows = phase_windows(board_for(request.user, slug))
        found = askers([window.phase for window in windows])
        return Response(AskerSerializer(found, many=True).data)


class PhaseList(APIView):
    """Adds a phase to a board. For organisers."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=NewPhaseSerializer, responses={201: PhaseSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = NewPhaseSerializer(data=request.data, context={"board": board})
        wanted.is_valid(raise_exception=True)
        with board_refusals():
            phase = add_phase(board=board, actor=actor_of(request), **wanted.validated_data)
        answer = _phase_shown(request, phase)
        answer.status_code = status.HTTP_201_CREATED
        return answer


class PhaseDetail(APIView):
    """One phase. Organisers can change it; existing gradings keep their results."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=PhaseSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        return _phase_shown(request, _phase(request, slug, phase))

    @extend_schema(
        request=NewPhaseSerializer, responses={200: PhaseSerializer, 409: DetailSerializer}
    )
    def patch(self, request: Request, slug: str, phase: str) -> Response:
        edited = _phase(request, slug, phase)
        wanted = NewPhaseSerializer(
            edited, data=request.data, partial=True, context={"board": edited.board}
        )
        wanted.is_valid(raise_exception=True)
        with board_refusals():
            edit_phase(
                phase=edited,
                wanted=wanted.validated_data["phase"],
                actor=actor_of(request),
                confirm_disclosure=wanted.validated_data["confirm_disclosure"],
            )
        return _phase_shown(request, _phase(request, slug, phase))


class PhaseIds(APIView):
    """The ids of the items that a submission answers, if the release is public."""

    @extend_schema(responses=PhaseIdsSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        shown = _phase(request, slug, phase)
        if not may_open_release(request.user, shown.release):
            raise Http404("The ids of this phase are not public.")
        return Response({"ids": phase_ids(shown)})


class PhaseLimits(APIView):
    """The user's quota in a phase: what is left of its limits, and when more becomes free."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=QuotaSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        shown, user = _phase(request, slug, phase), actor_of(request)
        mine: Any = quota(shown, user)
        mine_and_teams = {
            **{name: getattr(mine, name) for name in ("day", "total", "failed", "refusal")},
            "teams": team_quotas(list(teams_of(user)), [shown]),
        }
        return Response(QuotaSerializer(mine_and_teams).data)
