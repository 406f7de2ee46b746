"""Pages of submissions: the form, status and result, actions, a board's submissions, and
webhooks."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.accounts.emails import origin_of
from portal.accounts.models import User, display_name
from portal.accounts.networks import network_key
from portal.accounts.teams.selectors import teams_of
from portal.datasets.responses import file_response
from portal.files.uploads import was_too_large
from portal.web.refusals import Refused, post_action
from portal.web.requests import refuse_unknown
from scoring.access import (
    board_for,
    kept_submission,
    steered_submission,
    submission_for,
    submission_to_replace,
    submission_to_withdraw,
)
from scoring.boards.alike import signs
from scoring.boards.forms import BoardStateForm
from scoring.boards.limits import askers, phase_quotas, team_quotas
from scoring.boards.protection import all_warnings, disclosures
from scoring.boards.selectors import (
    example_file,
    not_open_words,
    phases_for,
    precheck_data,
)
from scoring.charts.drawing import library_version
from scoring.charts.look import live_style
from scoring.grading.notices import (
    SIGNATURE,
    WebhookRefused,
    add_webhook,
    remove_webhook,
    webhooks_of,
)
from scoring.grading.regrade_changes import board_regrades
from scoring.grading.selectors import cited_grading
from scoring.grading.services import GradingRefused
from scoring.grading.similarity import similar_on_board
from scoring.leaderboard.charts import pictures
from scoring.leaderboard.citing import submission_bibtex
from scoring.models import Board, Phase, Submission, Webhook
from scoring.models.boards import phase_windows
from scoring.results.examples import typical_errors
from scoring.results.item_lists import item_list, score_chart
from scoring.results.views import asked_items
from scoring.web import manifest_response, upload_response, warnings_of

from . import services
from .approvals import (
    ApprovalRefused,
    approve_account,
    approve_submission,
    awaits_approval,
    board_approvals,
    phases_to_approve,
    refuse_submission,
)
from .forms import ApprovalForm, SubmissionForm, VerdictForm, WebhookForm
from .manifests import ManifestRefused, check_manifest
from .selectors import for_lists, submission_lines, submission_page
from .services import PublicationRefused, create_submission, find_submission
from .uploads import (
    CheckedUpload,
    SubmissionRefused,
    check_identity,
    check_limits,
    check_newest,
    check_upload,
    identical_submission,
    identity_refusal,
)

PER_PAGE = 50
REGRADES_SHOWN = 5


@login_required
@require_safe
def submissions(request: UserRequest) -> HttpResponse:
    context = _listed(request, Submission.objects.kept_by(request.user))
    return render(request, "scoring/submissions/submissions.html", context)


def _listed(request: UserRequest, submissions: QuerySet[Submission]) -> dict[str, Any]:
    """A page of submissions and its lines. Three queries."""
    page = Paginator(for_lists(submissions), PER_PAGE).get_page(request.GET.get("page", "1"))
    return {"submissions": page, "lines": submission_lines(request.user, list(page))}


@require_safe
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    """Status and result. For htmx, only the part that changes during grading."""
    submission = submission_for(request.user, pk)
    page = submission_page(request.user, submission, request.GET.get("grading", ""))
    items = scores = examples = None
    if page.shows_items and page.is_done and page.grading is not None:
        items = item_list(
            request.user,
            submission,
            page.grading,
            page=request.GET.get("page", "1"),
            asked=asked_items(request),
            earlier=str(page.grading.pk) if page.is_earlier else "",
        )
        scores = next(iter(pictures([score_chart(request.user, submission, page.grading)])), None)
        examples = typical_errors(request.user, submission, page.grading)
    part = "#status" if request.headers.get("HX-Request") else ""
    context = {
        "board": submission.phase.board,
        "page": page,
        "items": items,
        "scores": scores,
        "examples": examples,
        "library": library_version(),
        "live_style": live_style(),
        "verdict": VerdictForm(instance=submission),
    }
    response = render(request, f"scoring/submissions/submission.html{part}", context)
    response["Vary"] = "HX-Request, Cookie"
    return response


@require_safe
def citation(request: HttpRequest, pk: int) -> HttpResponse:
    """How to cite the submission, as BibTeX."""
    refuse_unknown(request, ())
    submission = submission_for(request.user, pk)
    url = request.build_absolute_uri(submission.get_absolute_url())
    shown = cited_grading(request.user, submission)
    today = timezone.now().date()
    return file_response(submission_bibtex(submission, shown, url=url, accessed=today))


@login_required
@require_safe
def download(request: UserRequest, pk: int) -> FileResponse:
    """The uploaded file, for keepers."""
    refuse_unknown(request, ())
    return upload_response(kept_submission(request.user, pk))


@login_required
@require_safe
def manifest(request: UserRequest, pk: int) -> HttpResponse:
    """The run manifest as it was uploaded, for keepers."""
    refuse_unknown(request, ())
    return manifest_response(kept_submission(request.user, pk))


Given = dict[str, Any]


def _action(
    find: Callable[[User, int], Submission],
    act: Callable[..., object],
    done: str | Callable[[Given], str] = "",
    *,
    read: Callable[[UserRequest], Given] = lambda _: {},
) -> Callable[..., HttpResponse]:
    """An action by POST on the submission that `find` returns.

    `read` returns further arguments of the service `act`. `done` is the message afterwards, and a
    refusal is shown as a warning. Both lead back to the submission's page.
    """

    @login_required
    @require_POST
    def view(request: UserRequest, pk: int) -> HttpResponse:
        submission = find(request.user, pk)
        with warnings_of(request, GradingRefused, PublicationRefused, ApprovalRefused):
            given = read(request)
            act(submission=submission, actor=request.user, **given)
            if words := done(given) if callable(done) else done:
                messages.success(request, words)
        return redirect(submission)

    return view


def _verdict(request: UserRequest) -> Given:
    form = VerdictForm(request.POST)
    if not form.is_valid():
        raise PublicationRefused("Choose not reviewed, verified or disqualified.")
    verdict = Submission.Verdict(form.cleaned_data["verdict"])
    return {"verdict": verdict, "reason": form.cleaned_data["verdict_reason"]}


def _opened(given: Given) -> str:
    words = "public while the result is public" if given["has_open_items"] else "private"
    return f"The individual items are {words}."


cancel = _action(steered_submission, services.cancel_latest)
retry = _action(steered_submission, services.retry_latest)
publish = _action(
    steered_submission, services.publish_submission, "Result published on the leaderboard."
)
unpublish = _action(
    steered_submission,
    services.unpublish_submission,
    "Result removed from the leaderboard. It is private now.",
)
open_up = _action(
    steered_submission,
    services.open_items,
    _opened,
    read=lambda request: {"has_open_items": request.POST.get("open") == "1"},
)
# Final: the page asks for confirmation first.
withdraw = _action(
    submission_to_withdraw,
    services.withdraw_submission,
    "Submission withdrawn. It cannot be published again.",
)
judge = organiser_required(
    _action(submission_for, services.judge_submission, "Verification status saved.", read=_verdict)
)
approve = organiser_required(
    _action(
        submission_for,
        approve_submission,
        "Submission approved. It is being graded.",
        read=lambda request: {"origin": origin_of(request)},
    )
)
refuse = organiser_required(
    _action(
        submission_for,
        refuse_submission,
        "Submission rejected.",
        read=lambda request: {
            "reason": request.POST.get("reason", ""),
            "origin": origin_of(request),
        },
    )
)
pin = organiser_required(
    _action(
        submission_for,
        services.pin_submission,
        read=lambda request: {"is_pinned": request.POST.get("pinned") == "1"},
    )
)


@login_required
def submit(request: UserRequest, slug: str) -> HttpResponse:
    """Shows the form; on POST, creates the submission or shows all faults of the file.

    With `?again=NUMBER` it is a new version of that submission, with its card filled in; with
    `?phase=SLUG` this phase is selected if it is open.
    """
    board = board_for(request.user, slug)
    phases = phases_for(request.user, board)
    earlier = _earlier(request, board)
    make_form = partial(
        SubmissionForm,
        phases=phases,
        teams=teams_of(request.user),
        earlier=earlier,
        phase=request.GET.get("phase", ""),
        required=board.card_fields,
        has_terms=bool(board.terms),
    )
    if request.method != "POST":
        return _page(request, board, make_form(), earlier=earlier)
    too_large = _is_too_large(request)
    form = make_form(request.POST, request.FILES, too_large=too_large)
    sent = find_submission(owner=request.user, form_key=request.POST.get("form_key", ""))
    if sent is not None:
        return _go(request, sent.get_absolute_url())
    if not form.is_valid():
        return _page(request, board, form, earlier=earlier, status=413 if too_large else 400)
    return _take(request, board, form, earlier)


def _earlier(request: UserRequest, board: Board) -> Submission | None:
    """The previous version, if the query names one."""
    wanted = request.GET.get("again", "")
    return submission_to_replace(request.user, board, int(wanted)) if wanted.isdecimal() else None


def _take(
    request: UserRequest, board: Board, form: SubmissionForm, earlier: Submission | None
) -> HttpResponse:
    """Checks the file of a valid form, and creates the submission if it has no faults."""
    phase, file = form.cleaned_data["phase"], form.cleaned_data["file"]
    manifest = form.cleaned_data["manifest"]
    if manifest is not None:
        try:
            check_manifest(manifest, phase=phase, file=file)
        except ManifestRefused as refusal:
            form.add_error("manifest", refusal.faults)
            return _page(request, board, form, earlier=earlier, status=400)
    checked = check_upload(phase=phase, file=file, filename=file.name, user=request.user)
    is_check = "check_only" in request.POST
    if is_check or not checked.can_be_taken(accept_missing=form.cleaned_data["accept_missing"]):
        status = 200 if is_check else 422
        return _page(
            request, board, form, earlier=earlier, checked=checked, is_check=is_check, status=status
        )
    try:
        if same := _to_confirm(request.user, form, earlier):
            return _page(request, board, form, earlier=earlier, identical=same, status=409)
        submission = create_submission(
            phase=phase,
            owner=request.user,
            card=form.card(),
            file=file,
            filename=file.name,
            checked=checked,
            form_key=form.cleaned_data["form_key"],
            team=form.cleaned_data["team"],
            replaces=earlier,
            email_origin=origin_of(request) if form.cleaned_data.get("letter") else "",
            network=network_key(request),
            accepts_terms=form.cleaned_data.get("accept_terms", False),
            manifest=manifest,
        )
    except SubmissionRefused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, board, form, earlier=earlier, status=409)
    return _go(request, submission.get_absolute_url())


def _to_confirm(user: User, form: SubmissionForm, earlier: Submission | None) -> Submission | None:
    """A submission of the same file by another form, unless the user has confirmed it. Raises
    SubmissionRefused if a limit is used up or `earlier` has a newer version, since there is nothing
    to confirm then."""
    phase, team, file = (form.cleaned_data[name] for name in ("phase", "team", "file"))
    if form.cleaned_data["accept_identical"]:
        return None
    check_identity(phase=phase, user=user)
    check_limits(phase=phase, user=user, team=team)
    check_newest(earlier)
    same = identical_submission(phase=phase, user=user, team=team, file=file)
    # A second click sends the same form again.
    return None if same and same.form_key == form.cleaned_data["form_key"] else same


def _is_too_large(request: UserRequest) -> bool:
    """Accessing the files reads the upload, which reveals its size."""
    _ = request.FILES
    return was_too_large(request)


def _go(request: UserRequest, url: str) -> HttpResponse:
    """A redirect; for htmx by a header, because browsers follow real redirects for it."""
    if not request.headers.get("HX-Request"):
        return redirect(url)
    return HttpResponse(status=204, headers={"HX-Redirect": url})


def _page(
    request: UserRequest,
    board: Board,
    form: SubmissionForm,
    *,
    earlier: Submission | None = None,
    checked: CheckedUpload | None = None,
    identical: Submission | None = None,
    is_check: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The page; for htmx only the outcome, so that the selected file stays in the form."""
    template = "scoring/submissions/submit.html"
    if request.headers.get("HX-Request"):
        template += "#outcome"
    context = {
        "board": board,
        "form": form,
        "earlier": earlier,
        "checked": checked,
        "identical": identical,
        "is_check": is_check,
        "precheck": precheck_data(request.user, board, form.phases),
        "completeness": _completeness(form),
        **_quotas(request, form),
        "example": example_file(board),
        "not_open": "" if form.phases else not_open_words(board),
    }
    response = render(request, template, context, status=status)
    response["Vary"] = "HX-Request, Cookie"
    return response


def _completeness(form: SubmissionForm) -> list[str]:
    """How the open phases treat files that leave out items, each sentence once."""
    rules = {
        phase.title: phase.completeness_rule or f"Missing items are {phase.missing_words}."
        for phase in form.phases
    }
    if len(set(rules.values())) == 1:
        return [next(iter(rules.values()))]
    return [f"{title}: {rule}" for title, rule in rules.items()]


def _quotas(request: UserRequest, form: SubmissionForm) -> dict[str, Any]:
    """The quotas of the user and their teams. Organisers have no limits."""
    if is_organiser(request.user):
        return {"quotas": [], "team_quotas": []}
    return {
        "to_approve": {p.pk for p in form.phases if awaits_approval(p, request.user)},
        "identity": identity_refusal(request.user, form.phases),
        "quotas": phase_quotas(request.user, form.phases),
        "team_quotas": team_quotas(form.teams, form.phases),
    }


@login_required
def webhooks(request: UserRequest) -> HttpResponse:
    """The user's webhooks with their secrets, and the form that adds one."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            add_webhook(user=request.user, url=form.cleaned_data["url"])
        except WebhookRefused as refusal:
            form.add_error("url", str(refusal))
        else:
            messages.success(request, "Webhook added.")
            return redirect("scoring:webhooks")
    context = {"form": form, "webhooks": webhooks_of(request.user), "signature": SIGNATURE}
    status = 400 if form.errors else 200
    return render(request, "scoring/submissions/webhooks.html", context, status=status)


@login_required
@require_POST
def webhook_remove(request: UserRequest, pk: int) -> HttpResponse:
    webhook = get_object_or_404(Webhook.objects.of(request.user), pk=pk)
    remove_webhook(webhook=webhook, actor=request.user)
    messages.success(request, "Webhook removed.")
    return redirect("scoring:webhooks")


def _approvals(request: UserRequest, board: Board, phases: Sequence[Phase]) -> dict[str, Any]:
    """Approvals of people, for a board with hidden gold. Two queries, or none."""
    hidden = phases_to_approve(phases)
    if not hidden:
        return {}
    page = Paginator(board_approvals(board), PER_PAGE).get_page(request.GET.get("approved", "1"))
    return {"approvals": page, "approval_form": ApprovalForm(phases=hidden)}


@organiser_required
@post_action("scoring:board-manage", "slug")
def approve_person(request: UserRequest, slug: str) -> str:
    """Approves an account for hidden gold."""
    board = board_for(request.user, slug)
    phases = phases_to_approve(window.phase for window in phase_windows(board))
    form = ApprovalForm(request.POST, phases=phases)
    if not form.is_valid():
        raise Refused("Choose a phase, and enter the email address of an account.")
    approval = approve_account(**form.cleaned_data, actor=request.user)
    return f"{display_name(approval.user)} is approved for the hidden gold of this phase."


@organiser_required
@require_safe
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The submissions of a board, and its state."""
    board = board_for(request.user, slug)
    windows = phase_windows(board)
    phases = [window.phase for window in windows]
    context = {
        "board": board,
        "phases": windows,
        "form": BoardStateForm(initial={"state": board.state}),
        "warnings": all_warnings(phases),
        "disclosures": disclosures(phases) if board.is_draft else [],
        "regrades": board_regrades(board)[:REGRADES_SHOWN],
        "askers": askers(phases),
        "signs": signs(phases),
        **_approvals(request, board, phases),
        "similar": similar_on_board(board, request.GET.get("alike", "1")),
        **_listed(request, Submission.objects.filter(phase__board=board)),
    }
    return render(request, "scoring/submissions/manage.html", context)
