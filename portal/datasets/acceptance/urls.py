"""URLs of acceptance: pages, and endpoints under /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

_page_patterns = [
    path("", views.batches, name="batches"),
    path("new/", views.new_batch, name="batch-new"),
    path("<int:number>/", views.batch, name="batch"),
    path("<int:number>/close/", views.close, name="batch-close"),
    path("<int:number>/put-back/", views.put_back, name="batch-put-back"),
    path("<int:number>/report/", views.report, name="batch-report"),
    path("<int:number>/inspect/", views.inspect_next, name="inspect-next"),
    path("<int:number>/inspect/<str:name>/", views.inspect, name="inspect"),
]
_batch_patterns = [
    path("", api.BatchDetail.as_view(), name="batch"),
    path("close/", api.BatchClose.as_view(), name="batch-close"),
    path("put-back/", api.BatchPutBack.as_view(), name="batch-put-back"),
    path("report/", api.BatchReport.as_view(), name="batch-report"),
    path("documents/", api.BatchSample.as_view(), name="batch-sample"),
    path("documents/<str:name>/", api.BatchDocumentFields.as_view(), name="batch-document"),
    path(
        "documents/<str:name>/clear/", api.BatchVerdictClear.as_view(), name="batch-verdict-clear"
    ),
]
urlpatterns = [path("<slug:slug>/batches/", include(_page_patterns))]
api_urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/<slug:slug>/batches/", api.BatchList.as_view(), name="batches"),
    path("datasets/<slug:slug>/batches/<int:number>/", include(_batch_patterns)),
]
