"""The root URL configuration: the pages of `home`, the REST API, and the URLs of all apps."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

import annotation.urls
import portal.datasets.urls
import scoring.urls
from portal.accounts.second_factor import admin_login
from portal.accounts.urls import invitation_urlpatterns, team_urlpatterns
from portal.home import api, docs, health, views

home_urlpatterns = [
    path("", views.home, name="home"),
    path("start/", views.start, name="start"),
    path("terms/", views.legal, {"name": "terms"}, name="terms"),
    path("privacy/", views.legal, {"name": "privacy"}, name="privacy"),
    path("contact/", views.legal, {"name": "contact"}, name="contact"),
    path(health.PATH, health.healthz, name="healthz"),
]

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("", api.Root.as_view(), name="root"),
    path("schema/", api.SchemaView.as_view(), name="schema"),
    path("docs/", views.api_docs, name="docs"),
    path("docs/<slug:name>/", views.api_operation, name="operation"),
    path("", include("portal.accounts.invitations.api")),
    path("", include("portal.accounts.api")),
    path("", include("portal.accounts.teams.api")),
    path("", include(portal.datasets.urls.api_urlpatterns)),
    path("", include(annotation.urls.api_urlpatterns)),
    path("", include(scoring.urls.api_urlpatterns)),
]

urlpatterns: list[URLPattern | URLResolver] = [
    # The API comes first, because it gets the most requests.
    path("api/v1/", include((api_urlpatterns, "api"))),
    path("", include((home_urlpatterns, "home"))),
    path("docs/", include((docs.urlpatterns, "docs"))),
    path("accounts/", include("allauth.urls")),
    path("account/", include("portal.accounts.urls")),
    path("invitations/", include((invitation_urlpatterns, "invitations"))),
    path("teams/", include((team_urlpatterns, "teams"))),
    path("datasets/", include("portal.datasets.urls")),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("admin/login/", admin_login),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
]

handler400 = "portal.home.views.bad_request"
handler403 = "portal.home.views.forbidden"
handler404 = "portal.home.views.not_found"
handler500 = "portal.home.views.server_error"
