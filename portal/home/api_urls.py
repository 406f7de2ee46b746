"""URLs of the REST API: the endpoints of all apps, and the OpenAPI page."""

from django.urls import include, path

import annotation.urls
import portal.datasets.urls
import scoring.urls

from . import views
from .openapi import SchemaView

app_name = "api"
urlpatterns = [
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", views.api_docs, name="docs"),
    path("", include("portal.accounts.invitations.api")),
    path("", include("portal.accounts.api")),
    path("", include("portal.accounts.teams.api")),
    path("", include(portal.datasets.urls.api_urlpatterns)),
    path("", include(annotation.urls.api_urlpatterns)),
    path("", include(scoring.urls.api_urlpatterns)),
]
