"""Endpoint of comparisons."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scoring.access import board_for
from scoring.selectors.compared_entries import ComparisonRefused, entry_numbers
from scoring.selectors.comparisons import comparison
from scoring.services.replicates import ask_for_replicates

from .comparison_serializers import ComparisonQuerySerializer, ComparisonSerializer


class BoardCompare(APIView):
    """Two to five entries of one phase, graded by the same rules on the same release."""

    @extend_schema(parameters=[ComparisonQuerySerializer], responses=ComparisonSerializer)
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = ComparisonQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        try:
            numbers = entry_numbers([wanted.validated_data["entries"]])
            found = comparison(request.user, board, numbers)
        except ComparisonRefused as refusal:
            raise ValidationError({"entries": [str(refusal)]}) from refusal
        if found.is_exact and not found.is_ready:
            ask_for_replicates(found.gradings)
        return Response(ComparisonSerializer(found).data)
