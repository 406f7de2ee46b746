"""URLs under /invitations/."""

from django.urls import path

from . import views

app_name = "invitations"
urlpatterns = [
    path("", views.invitations, name="list"),
    path("<int:pk>/resend/", views.resend, name="resend"),
    path("<int:pk>/link/", views.link, name="link"),
    path("<int:pk>/revoke/", views.revoke, name="revoke"),
    path("<slug:secret>/", views.invitation, name="invitation"),
    path("<slug:secret>/accept/", views.accept, name="accept"),
]
