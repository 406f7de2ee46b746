"""The root URL configuration."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from portal.accounts.urls import invitation_urlpatterns, team_urlpatterns
from portal.home.urls import api_urlpatterns

urlpatterns: list[URLPattern | URLResolver] = [
    # The API comes first, because it gets the most requests.
    path("api/v1/", include((api_urlpatterns, "api"))),
    path("", include("portal.home.urls")),
    path("docs/", include("portal.docs.urls")),
    path("accounts/", include("allauth.urls")),
    path("account/", include("portal.accounts.urls")),
    path("invitations/", include((invitation_urlpatterns, "invitations"))),
    path("teams/", include((team_urlpatterns, "teams"))),
    path("datasets/", include("portal.datasets.urls")),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "portal.home.views.bad_request"
handler403 = "portal.home.views.forbidden"
handler404 = "portal.home.views.not_found"
handler500 = "portal.home.views.server_error"
