"""URLs of the home pages."""

from django.urls import path

from . import views

app_name = "home"
urlpatterns = [
    path("", views.home, name="home"),
    path("start/", views.start, name="start"),
    path("terms/", views.legal, {"name": "terms"}, name="terms"),
    path("privacy/", views.legal, {"name": "privacy"}, name="privacy"),
    path("contact/", views.legal, {"name": "contact"}, name="contact"),
    path("healthz", views.healthz, name="healthz"),
]
