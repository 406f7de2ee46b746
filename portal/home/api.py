"""The root of the REST API: what is there."""

from dataclasses import dataclass

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from portal.web.answers import answer

# The lists from which every other object is reached.
COLLECTIONS = (
    "account",
    "assignments",
    "boards",
    "campaigns",
    "datasets",
    "submissions",
    "teams",
    "webhooks",
)


@dataclass(frozen=True)
class ApiRoot:
    documentation: str
    schema: str
    collections: dict[str, str]


ApiRootSerializer = answer(ApiRoot)


class Root(APIView):
    """URLs of the documentation, of the OpenAPI document, and of each collection."""

    @extend_schema(
        operation_id="root",
        tags=["root"],
        summary="List the resources",
        responses=ApiRootSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(
            ApiRootSerializer(
                ApiRoot(
                    documentation=reverse("api:docs", request=request),
                    schema=reverse("api:schema", request=request),
                    collections={
                        name: reverse(f"api:{name}", request=request) for name in COLLECTIONS
                    },
                )
            ).data
        )
