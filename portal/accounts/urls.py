"""URLs under /account/, /invitations/ and /teams/."""

from django.urls import path

from portal.accounts.invitations import views as invitations
from portal.accounts.teams import views as teams

from . import views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("tokens/", views.create_token, name="create-token"),
    path("tokens/<int:pk>/revoke/", views.revoke, name="revoke-token"),
    path("sessions/end/", views.end_others, name="end-sessions"),
    path("exports/", views.exports, name="exports"),
    path("exports/new/", views.order_export, name="order-export"),
    path("exports/<int:pk>/", views.download_export, name="export"),
    path("delete/", views.delete, name="delete"),
]

invitation_urlpatterns = [
    path("", invitations.invitations, name="list"),
    path("<int:pk>/resend/", invitations.resend, name="resend"),
    path("<int:pk>/link/", invitations.link, name="link"),
    path("<int:pk>/revoke/", invitations.revoke, name="revoke"),
    path("<slug:secret>/", invitations.invitation, name="invitation"),
    path("<slug:secret>/accept/", invitations.accept, name="accept"),
]

team_urlpatterns = [
    path("", teams.teams, name="list"),
    path("new/", teams.new_team, name="new"),
    path("<slug:slug>/", teams.team, name="team"),
    path("<slug:slug>/people/", teams.people, name="people"),
    path("<slug:slug>/people/<int:pk>/remove/", teams.remove, name="remove"),
    path("<slug:slug>/people/<int:pk>/promote/", teams.promote, name="promote"),
    path("<slug:slug>/step-down/", teams.step_down, name="step-down"),
    path("<slug:slug>/invitations/<int:pk>/resend/", teams.resend, name="resend"),
    path("<slug:slug>/invitations/<int:pk>/link/", teams.link, name="link"),
    path("<slug:slug>/invitations/<int:pk>/revoke/", teams.revoke, name="revoke"),
    path("<slug:slug>/edit/", teams.edit, name="edit"),
    path("<slug:slug>/leave/", teams.leave, name="leave"),
    path("<slug:slug>/close/", teams.close, name="close"),
]
