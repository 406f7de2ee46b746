"""Addresses of the dataset manager's endpoints, below /api/v1/."""

from django.urls import path

from portal.datasets.curation.api import (
    DuplicateDetail,
    DuplicateList,
    FindingList,
    FindingsDecide,
    SelectionCheck,
    SelectionDetail,
    SelectionList,
)
from portal.datasets.documents.api import BulkEdit

from .acceptance import api as acceptance
from .disputes import api as disputes
from .documents import api as datasets
from .documents import api as images
from .documents import api as statistics
from .documents import api as tasks
from .imports import api as imports
from .releases import api as release_files
from .releases import api as releases
from .variants import api as variants

urlpatterns = [
    path("datasets/", datasets.DatasetList.as_view(), name="datasets"),
    path("datasets/<slug:slug>/", datasets.DatasetDetail.as_view(), name="dataset"),
    path("datasets/<slug:slug>/documents/", datasets.DocumentList.as_view(), name="documents"),
    path(
        "datasets/<slug:slug>/documents/<str:name>/",
        datasets.DocumentDetail.as_view(),
        name="document",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/<int:number>/",
        datasets.DocumentImage.as_view(),
        name="document-image",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/<int:number>/thumbnail/",
        images.ImageThumbnail.as_view(),
        name="document-thumbnail",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/images/",
        images.DocumentImages.as_view(),
        name="document-images",
    ),
    path(
        "datasets/<slug:slug>/documents/<str:name>/boxes/",
        images.DocumentBoxes.as_view(),
        name="document-boxes",
    ),
    path("datasets/<slug:slug>/imports/", imports.ImportList.as_view(), name="imports"),
    path("datasets/<slug:slug>/imports/<int:pk>/", imports.ImportDetail.as_view(), name="import"),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/items/",
        imports.ImportItems.as_view(),
        name="import-items",
    ),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/items/download/",
        imports.ImportItemsDownload.as_view(),
        name="import-items-download",
    ),
    path(
        "datasets/<slug:slug>/imports/<int:pk>/cancel/",
        imports.ImportCancel.as_view(),
        name="import-cancel",
    ),
    path("datasets/<slug:slug>/bulk-edit/", BulkEdit.as_view(), name="bulk-edit"),
    path(
        "datasets/<slug:slug>/personal-data/",
        FindingList.as_view(),
        name="personal-data",
    ),
    path(
        "datasets/<slug:slug>/personal-data/decide/",
        FindingsDecide.as_view(),
        name="personal-data-decide",
    ),
    path("datasets/<slug:slug>/duplicates/", DuplicateList.as_view(), name="duplicates"),
    path(
        "datasets/<slug:slug>/duplicates/<int:pk>/",
        DuplicateDetail.as_view(),
        name="duplicate",
    ),
    path("datasets/<slug:slug>/selections/", SelectionList.as_view(), name="selections"),
    path(
        "datasets/<slug:slug>/selections/<int:pk>/",
        SelectionDetail.as_view(),
        name="selection",
    ),
    path(
        "datasets/<slug:slug>/selections/<int:pk>/check/",
        SelectionCheck.as_view(),
        name="selection-check",
    ),
    path("datasets/<slug:slug>/tasks/", tasks.TaskList.as_view(), name="tasks"),
    path("datasets/<slug:slug>/tasks/<int:pk>/", tasks.TaskDetail.as_view(), name="task"),
    path(
        "datasets/<slug:slug>/tasks/<int:pk>/cancel/",
        tasks.TaskCancel.as_view(),
        name="task-cancel",
    ),
    path("datasets/<slug:slug>/batches/", acceptance.BatchList.as_view(), name="batches"),
    path(
        "datasets/<slug:slug>/batches/<int:number>/",
        acceptance.BatchDetail.as_view(),
        name="batch",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/close/",
        acceptance.BatchClose.as_view(),
        name="batch-close",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/put-back/",
        acceptance.BatchPutBack.as_view(),
        name="batch-put-back",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/report/",
        acceptance.BatchReport.as_view(),
        name="batch-report",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/",
        acceptance.BatchSample.as_view(),
        name="batch-sample",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/<str:name>/",
        acceptance.BatchDocumentFields.as_view(),
        name="batch-document",
    ),
    path(
        "datasets/<slug:slug>/batches/<int:number>/documents/<str:name>/clear/",
        acceptance.BatchVerdictClear.as_view(),
        name="batch-verdict-clear",
    ),
    path(
        "datasets/<slug:slug>/statistics/",
        statistics.DatasetStatisticsDetail.as_view(),
        name="statistics",
    ),
    path(
        "datasets/<slug:slug>/statistics/export/",
        statistics.DatasetStatisticsExport.as_view(),
        name="statistics-export",
    ),
    path("datasets/<slug:slug>/releases/", releases.ReleaseList.as_view(), name="releases"),
    path(
        "datasets/<slug:slug>/releases/<str:version>/",
        releases.ReleaseDetail.as_view(),
        name="release",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/items/",
        releases.ReleaseItems.as_view(),
        name="release-items",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/download/",
        releases.ReleaseDownload.as_view(),
        name="release-download",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/files/<str:name>",
        release_files.ReleaseFile.as_view(),
        name="release-file",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/starter-kit/",
        release_files.StarterKit.as_view(),
        name="starter-kit",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/accept-licence/",
        release_files.AcceptLicence.as_view(),
        name="accept-licence",
    ),
    path(
        "datasets/<slug:slug>/releases/<str:version>/diff/<str:other>/",
        release_files.ReleaseDiff.as_view(),
        name="release-diff",
    ),
    path("datasets/<slug:slug>/disputes/", disputes.DisputeList.as_view(), name="disputes"),
    path(
        "datasets/<slug:slug>/corrections/",
        disputes.CorrectionList.as_view(),
        name="corrections",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/",
        disputes.DisputeDetail.as_view(),
        name="dispute",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/decide/",
        disputes.DisputeDecision.as_view(),
        name="dispute-decide",
    ),
    path(
        "datasets/<slug:slug>/disputes/<int:pk>/withdraw/",
        disputes.DisputeWithdrawal.as_view(),
        name="dispute-withdraw",
    ),
    path("datasets/<slug:slug>/variants/", variants.VariantList.as_view(), name="variants"),
]
