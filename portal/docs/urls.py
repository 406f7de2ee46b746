"""URLs of the documentation."""

from django.urls import path

from . import views

app_name = "docs"
urlpatterns = [
    path("", views.index, name="index"),
    path("images/<str:name>", views.image, name="image"),
    path("<path:slug>/", views.page, name="page"),
]
