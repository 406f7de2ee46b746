"""URLs of datasets and documents: pages, and endpoints under /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

_document_pages = [
    path("", views.document, name="document"),
    path("edit/", views.document_edit, name="document-edit"),
    path("html/", views.document_html, name="document-html"),
    path("images/", views.upload, name="document-images"),
    path("images/remove/", views.remove_rendered, name="document-images-remove"),
    path("images/<int:number>/", views.document_image, name="document-image"),
    path("images/<int:number>/thumbnail/", views.thumbnail, name="document-thumbnail"),
]
_dataset_pages: list[URLPattern | URLResolver] = [
    path("", views.dataset, name="detail"),
    path("edit/", views.edit, name="edit"),
    path("images/", views.images, name="images"),
    path("tasks/", views.tasks, name="tasks"),
    path("tasks/<int:pk>/", views.task, name="task"),
    path("tasks/<int:pk>/cancel/", views.cancel, name="task-cancel"),
    path("statistics/", views.statistics, name="statistics"),
    path("statistics/export/", views.statistics_export, name="statistics-export"),
    path("documents/", views.table, name="table"),
    path("bulk-edit/", views.bulk_edit, name="bulk-edit"),
    path("documents/<str:name>/", include(_document_pages)),
]
_document_api = [
    path("", api.DocumentDetail.as_view(), name="document"),
    path("images/<int:number>/", api.DocumentImage.as_view(), name="document-image"),
    path("images/<int:number>/thumbnail/", api.ImageThumbnail.as_view(), name="document-thumbnail"),
    path("images/", api.DocumentImages.as_view(), name="document-images"),
    path("boxes/", api.DocumentBoxes.as_view(), name="document-boxes"),
]
_dataset_api: list[URLPattern | URLResolver] = [
    path("", api.DatasetDetail.as_view(), name="dataset"),
    path("documents/", api.DocumentList.as_view(), name="documents"),
    path("documents/<str:name>/", include(_document_api)),
    path("bulk-edit/", api.BulkEdit.as_view(), name="bulk-edit"),
    path("tasks/", api.TaskList.as_view(), name="tasks"),
    path("tasks/<int:pk>/", api.TaskDetail.as_view(), name="task"),
    path("tasks/<int:pk>/cancel/", api.TaskCancel.as_view(), name="task-cancel"),
    path("statistics/", api.DatasetStatisticsDetail.as_view(), name="statistics"),
    path("statistics/export/", api.DatasetStatisticsExport.as_view(), name="statistics-export"),
]
urlpatterns = [
    path("", views.datasets, name="list"),
    path("new/", views.new_dataset, name="new"),
    path("<slug:slug>/", include(_dataset_pages)),
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/", api.DatasetList.as_view(), name="datasets"),
    path("datasets/<slug:slug>/", include(_dataset_api)),
]
