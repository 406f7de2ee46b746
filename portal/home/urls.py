"""URLs of the home pages, and of the REST API: the endpoints of all apps and the OpenAPI page."""

from django.urls import URLPattern, URLResolver, include, path

import annotation.urls
import portal.datasets.urls
import scoring.urls

from . import api, views
from .openapi import SchemaView

app_name = "home"
urlpatterns = [
    path("", views.home, name="home"),
    path("start/", views.start, name="start"),
    path("terms/", views.legal, {"name": "terms"}, name="terms"),
    path("privacy/", views.legal, {"name": "privacy"}, name="privacy"),
    path("contact/", views.legal, {"name": "contact"}, name="contact"),
    path("healthz", views.healthz, name="healthz"),
]

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("", api.Root.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", views.api_docs, name="docs"),
    path("", include("portal.accounts.invitations.api")),
    path("", include("portal.accounts.api")),
    path("", include("portal.accounts.teams.api")),
    path("", include(portal.datasets.urls.api_urlpatterns)),
    path("", include(annotation.urls.api_urlpatterns)),
    path("", include(scoring.urls.api_urlpatterns)),
]
