"""URLs under /teams/."""

from django.urls import path

from . import views

app_name = "teams"
urlpatterns = [
    path("", views.teams, name="list"),
    path("new/", views.new_team, name="new"),
    path("<slug:slug>/", views.team, name="team"),
    path("<slug:slug>/people/", views.people, name="people"),
    path("<slug:slug>/people/<int:pk>/remove/", views.remove, name="remove"),
    path("<slug:slug>/people/<int:pk>/promote/", views.promote, name="promote"),
    path("<slug:slug>/step-down/", views.step_down, name="step-down"),
    path("<slug:slug>/invitations/<int:pk>/resend/", views.resend, name="resend"),
    path("<slug:slug>/invitations/<int:pk>/link/", views.link, name="link"),
    path("<slug:slug>/invitations/<int:pk>/revoke/", views.revoke, name="revoke"),
    path("<slug:slug>/edit/", views.edit, name="edit"),
    path("<slug:slug>/leave/", views.leave, name="leave"),
    path("<slug:slug>/close/", views.close, name="close"),
]
