"""URLs of the features of datasets, in matching order."""

from django.urls import URLPattern, URLResolver

from .acceptance import urls as acceptance
from .curation import urls as curation
from .disputes import urls as disputes
from .documents import urls as documents
from .imports import urls as imports
from .releases import urls as releases
from .variants import urls as variants

app_name = "datasets"
urlpatterns = [
    *documents.urlpatterns,
    *imports.urlpatterns,
    *acceptance.urlpatterns,
    *curation.urlpatterns,
    *releases.urlpatterns,
    *variants.urlpatterns,
    *disputes.urlpatterns,
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    *documents.api_urlpatterns,
    *imports.api_urlpatterns,
    *acceptance.api_urlpatterns,
    *curation.api_urlpatterns,
    *releases.api_urlpatterns,
    *variants.api_urlpatterns,
    *disputes.api_urlpatterns,
]
