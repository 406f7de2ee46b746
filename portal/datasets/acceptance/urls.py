"""URLs of acceptance: pages, and endpoints under /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("<slug:slug>/batches/", views.batches, name="batches"),
    path("<slug:slug>/batches/new/", views.new_batch, name="batch-new"),
    path("<slug:slug>/batches/<int:number>/", views.batch, name="batch"),
    path("<slug:slug>/batches/<int:number>/close/", views.close, name="batch-close"),
    path("<slug:slug>/batches/<int:number>/put-back/", views.put_back, name="batch-put-back"),
    path("<slug:slug>/batches/<int:number>/report/", views.report, name="batch-report"),
    path("<slug:slug>/batches/<int:number>/inspect/", views.inspect_next, name="inspect-next"),
    path("<slug:slug>/batches/<int:number>/inspect/<str:name>/", views.inspect, name="inspect"),
]
api_urlpatterns = [
    path("datasets/<slug:slug>/batches/", api.BatchList.as_view(), name="batches"),
    path(
        "datasets/<slug:slug>/batches/<int:number>/",
        api.BatchDetail.as_view(),
        name="batch",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/close/",
        api.BatchClose.as_view(),
        name="batch-close",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/put-back/",
        api.BatchPutBack.as_view(),
        name="batch-put-back",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/report/",
        api.BatchReport.as_view(),
        name="batch-report",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/",
        api.BatchSample.as_view(),
        name="batch-sample",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/<str:name>/",
        api.BatchDocumentFields.as_view(),
        name="batch-document",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/<str:name>/clear/",
        api.BatchVerdictClear.as_view(),
        name="batch-verdict-clear",
    ),
]
