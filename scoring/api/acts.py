"""Endpoints of what is done to a submission."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import User
from scoring.access import kept_submission, steered_submission, submission_to_withdraw
from scoring.models import Submission
from scoring.selectors.submissions import latest_grading, submission_page
from scoring.services.gradings import GradingRefused, cancel_grading, retry_grading
from scoring.services.publication import (
    PublicationRefused,
    judge_submission,
    open_items,
    pin_submission,
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)

from .base import ConflictError, actor_of
from .submission_serializers import (
    DetailSerializer,
    OpenItemsSerializer,
    PinSerializer,
    SubmissionSerializer,
    VerdictSerializer,
)


def shown(request: Request, submission: Submission, wanted: str = "") -> Any:
    """The submission as its reader may see it, with the result that counts or an earlier one."""
    page = submission_page(request.user, submission, wanted)
    return SubmissionSerializer(submission, context={"page": page}).data


class _Act(APIView):
    """Something done to a submission; answers with the submission as it is then."""

    permission_classes = [IsAuthenticated]
    find = staticmethod(steered_submission)

    def act(self, submission: Submission, actor: User) -> None:
        raise NotImplementedError  # abstract

    @extend_schema(request=None, responses={200: SubmissionSerializer, 409: DetailSerializer})
    def post(self, request: Request, pk: int) -> Response:
        submission = self.find(request.user, pk)
        try:
            self.act(submission, actor_of(request))
        except (GradingRefused, PublicationRefused) as refusal:
            raise ConflictError(str(refusal)) from refusal
        submission.refresh_from_db()
        return Response(shown(request, submission))


class SubmissionCancel(_Act):
    """Stops the grading. What was scored so far is kept."""

    def act(self, submission: Submission, actor: User) -> None:
        cancel_grading(grading=latest_grading(submission), actor=actor)


class SubmissionRetry(_Act):
    """Goes on with a failed or cancelled grading: only what has no score is scored."""

    def act(self, submission: Submission, actor: User) -> None:
        retry_grading(grading=latest_grading(submission), actor=actor)


class SubmissionPublish(_Act):
    """Puts the result on the leaderboard."""

    def act(self, submission: Submission, actor: User) -> None:
        publish_submission(submission=submission, actor=actor)


class SubmissionUnpublish(_Act):
    """Takes the result off the leaderboard; it is private again."""

    def act(self, submission: Submission, actor: User) -> None:
        unpublish_submission(submission=submission, actor=actor)


class SubmissionOpenItems(_Act):
    """Lets everybody read the single items while the submission is public, or no longer. Refused
    where the phase shows totals only, or the gold is not public."""

    @extend_schema(
        request=OpenItemsSerializer, responses={200: SubmissionSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        wanted = OpenItemsSerializer(data=request.data)
        submission = self.find(request.user, pk)
        wanted.is_valid(raise_exception=True)
        try:
            open_items(submission=submission, actor=actor_of(request), **wanted.validated_data)
        except PublicationRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        submission.refresh_from_db()
        return Response(shown(request, submission))


class SubmissionWithdraw(_Act):
    """Takes the submission back for good: off the leaderboard, never published again."""

    find = staticmethod(submission_to_withdraw)

    def act(self, submission: Submission, actor: User) -> None:
        withdraw_submission(submission=submission, actor=actor)


class SubmissionJudge(APIView):
    """Verifies or disqualifies a submission, or takes that back."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=VerdictSerializer, responses={200: SubmissionSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        submission = kept_submission(request.user, pk)
        wanted = VerdictSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            judge_submission(
                submission=submission,
                verdict=Submission.Verdict(wanted.validated_data["verdict"]),
                reason=wanted.validated_data["reason"],
                actor=actor_of(request),
            )
        except PublicationRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        submission.refresh_from_db()
        return Response(shown(request, submission))


class SubmissionPin(APIView):
    """Keeps the entry in sight whatever is filtered, or no longer."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=PinSerializer, responses=SubmissionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        submission = kept_submission(request.user, pk)
        wanted = PinSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        pin_submission(
            submission=submission,
            is_pinned=wanted.validated_data["is_pinned"],
            actor=actor_of(request),
        )
        submission.refresh_from_db()
        return Response(shown(request, submission))
