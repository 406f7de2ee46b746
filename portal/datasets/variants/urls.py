"""URLs of variants: pages, and endpoints under /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/variants/", views.variants, name="variants"),
    path("<slug:slug>/variants/new/", views.new_variant, name="variant-new"),
    path("<slug:slug>/carry/", views.carry, name="variant-carry"),
    path("<slug:slug>/contact-sheet/", views.contact_sheet, name="contact-sheet"),
]
api_urlpatterns = [
    path("datasets/<slug:slug>/variants/", api.VariantList.as_view(), name="variants"),
]
