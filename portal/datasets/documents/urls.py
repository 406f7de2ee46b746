"""URLs of documents: pages, and endpoints under /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("", views.datasets, name="list"),
    path("new/", views.new_dataset, name="new"),
    path("<slug:slug>/", views.dataset, name="detail"),
    path("<slug:slug>/edit/", views.edit, name="edit"),
    path("<slug:slug>/images/", views.images, name="images"),
    path("<slug:slug>/tasks/", views.tasks, name="tasks"),
    path("<slug:slug>/tasks/<int:pk>/", views.task, name="task"),
    path("<slug:slug>/tasks/<int:pk>/cancel/", views.cancel, name="task-cancel"),
    path("<slug:slug>/statistics/", views.statistics, name="statistics"),
    path("<slug:slug>/statistics/export/", views.statistics_export, name="statistics-export"),
    path("<slug:slug>/documents/", views.table, name="table"),
    path("<slug:slug>/bulk-edit/", views.bulk_edit, name="bulk-edit"),
    path("<slug:slug>/documents/<str:name>/", views.document, name="document"),
    path("<slug:slug>/documents/<str:name>/edit/", views.document_edit, name="document-edit"),
    path("<slug:slug>/documents/<str:name>/html/", views.document_html, name="document-html"),
    path("<slug:slug>/documents/<str:name>/images/", views.upload, name="document-images"),
    path(
        "<slug:slug>/documents/<str:name>/images/remove/",
        views.remove_rendered,
        name="document-images-remove",
    ),
    path(
        "<slug:slug>/documents/<str:name>/images/<int:number>/",
        views.document_image,
        name="document-image",
    ),
    path(
        "<slug:slug>/documents/<str:name>/images/<int:number>/thumbnail/",
        views.thumbnail,
        name="document-thumbnail",
    ),
]
api_urlpatterns = [
    path("datasets/", api.DatasetList.as_view(), name="datasets"),
    path("datasets/<slug:slug>/", api.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<slug:slug>/documents/", api.DocumentList.as_view(), name="documents"),
    path(
        "datasets/<slug:slug>/documents/<str:name>/",
        api.DocumentDetail.as_view(),
        name="document",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/<int:number>/",
        api.DocumentImage.as_view(),
        name="document-image",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/<int:number>/thumbnail/",
        api.ImageThumbnail.as_view(),
        name="document-thumbnail",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/",
        api.DocumentImages.as_view(),
        name="document-images",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/boxes/",
        api.DocumentBoxes.as_view(),
        name="document-boxes",
    ),
    path("datasets/<slug:slug>/bulk-edit/", api.BulkEdit.as_view(), name="bulk-edit"),
    path("datasets/<slug:slug>/tasks/", api.TaskList.as_view(), name="tasks"),
    path("datasets/<slug:slug>/tasks/<int:pk>/", api.TaskDetail.as_view(), name="task"),
    path(
        "datasets/<slug:slug>/tasks/<int:pk>/cancel/",
        api.TaskCancel.as_view(),
        name="task-cancel",
    ),
    path(
        "datasets/<slug:slug>/statistics/",
        api.DatasetStatisticsDetail.as_view(),
        name="statistics",
    ),
    path(
        "datasets/<slug:slug>/statistics/export/",
        api.DatasetStatisticsExport.as_view(),
        name="statistics-export",
    ),
]
