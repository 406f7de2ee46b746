"""URLs under /account/."""

from django.urls import path

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
