"""Addresses under /account/."""

from django.urls import path

from . import own_data_views, views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("tokens/", views.create_token, name="create-token"),
    path("tokens/<int:pk>/revoke/", views.revoke, name="revoke-token"),
    path("sessions/end/", own_data_views.end_others, name="end-sessions"),
    path("exports/", own_data_views.exports, name="exports"),
    path("exports/new/", own_data_views.order_export, name="order-export"),
    path("exports/<int:pk>/", own_data_views.download_export, name="export"),
    path("delete/", own_data_views.delete, name="delete"),
]
