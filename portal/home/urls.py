"""Addresses of the home pages."""

from django.urls import path

from . import views

app_name = "home"
urlpatterns = [
    path("", views.home, name="home"),
    path("start/", views.start, name="start"),
    path("healthz", views.healthz, name="healthz"),
]
