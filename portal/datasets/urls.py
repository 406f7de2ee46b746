"""Every URL of the dataset manager: pages, and endpoints under /api/v1/."""

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.views import APIView

from .acceptance import api as acceptance_api
from .acceptance import views as acceptance
from .curation import api as curation_api
from .curation import views as curation
from .disputes import api as disputes_api
from .disputes import views as disputes
from .documents import api as documents_api
from .documents import views as documents
from .imports import api as imports_api
from .imports import views as imports
from .releases import api as releases_api
from .releases import views as releases
from .variants import api as variants_api
from .variants import views as variants

app_name = "datasets"
_document_pages = [
    path("", documents.document, name="document"),
    path("edit/", documents.document_edit, name="document-edit"),
    path("html/", documents.document_html, name="document-html"),
    path("images/", documents.upload, name="document-images"),
    path("images/remove/", documents.remove_rendered, name="document-images-remove"),
    path("images/<int:number>/", documents.document_image, name="document-image"),
    path("images/<int:number>/thumbnail/", documents.thumbnail, name="document-thumbnail"),
]
_import_pages = [
    path("", imports.import_run, name="import-run"),
    path("cancel/", imports.cancel, name="import-cancel"),
    path("carry-out/", imports.carry_out, name="import-carry-out"),
    path("report.csv", imports.import_report_file, {"form": "csv"}, "import-report-csv"),
    path("report.jsonl", imports.import_report_file, {"form": "jsonl"}, "import-report-jsonl"),
]
_batch_pages = [
    path("", acceptance.batch, name="batch"),
    path("close/", acceptance.close, name="batch-close"),
    path("put-back/", acceptance.put_back, name="batch-put-back"),
    path("report/", acceptance.report, name="batch-report"),
    path("inspect/", acceptance.inspect_next, name="inspect-next"),
    path("inspect/<str:name>/", acceptance.inspect, name="inspect"),
]
_release_pages = [
    path("", releases.release, name="release"),
    path("download/", releases.download, name="release-download"),
    path("starter-kit/", releases.starter_kit, name="starter-kit"),
    path("files/<str:name>", releases.release_file, name="release-file"),
    path("licence/", releases.licence, name="release-licence"),
    path("diff/<str:other>/", releases.diff, name="release-diff"),
    path("items/<str:name>/", disputes.release_item, name="release-item"),
    path("items/<str:name>/dispute/", disputes.new_dispute, name="dispute-new"),
]
_dataset_pages: list[URLPattern | URLResolver] = [
    path("", documents.dataset, name="detail"),
    path("edit/", documents.edit, name="edit"),
    path("documents/", documents.table, name="table"),
    path("documents/<str:name>/", include(_document_pages)),
    path("bulk-edit/", documents.bulk_edit, name="bulk-edit"),
    path("images/", documents.images, name="images"),
    path("statistics/", documents.statistics, name="statistics"),
    path("statistics/export/", documents.statistics_export, name="statistics-export"),
    path("tasks/", documents.tasks, name="tasks"),
    path("tasks/<int:pk>/", documents.task, name="task"),
    path("tasks/<int:pk>/cancel/", documents.cancel, name="task-cancel"),
    path("import/", imports.new_import, name="import"),
    path("imports/<int:pk>/", include(_import_pages)),
    path("batches/", acceptance.batches, name="batches"),
    path("batches/new/", acceptance.new_batch, name="batch-new"),
    path("batches/<int:number>/", include(_batch_pages)),
    path("personal-data/", curation.personal_data, name="personal-data"),
    path("personal-data/scan/", curation.scan, name="personal-data-scan"),
    path("duplicates/", curation.duplicates, name="duplicates"),
    path("duplicates/<int:pk>/", curation.duplicate, name="duplicate"),
    path("content/", curation.content, name="content"),
    path("selections/", curation.selections, name="selections"),
    path("selections/new/", curation.new_selection, name="selection-new"),
    path("selections/<int:pk>/", curation.selection, name="selection"),
    path("selections/<int:pk>/download/", curation.selection_download, name="selection-download"),
    path("releases/", releases.releases, name="releases"),
    path("releases/new/", releases.new_release, name="release-new"),
    path("releases/restore/", releases.restore, name="release-restore"),
    path("releases/<str:version>/", include(_release_pages)),
    path("variants/", variants.variants, name="variants"),
    path("variants/new/", variants.new_variant, name="variant-new"),
    path("carry/", variants.carry, name="variant-carry"),
    path("contact-sheet/", variants.contact_sheet, name="contact-sheet"),
    path("disputes/", disputes.disputes, name="disputes"),
    path("disputes/<int:pk>/", disputes.dispute, name="dispute"),
    path("disputes/<int:pk>/decide/", disputes.decide, name="dispute-decide"),
    path("disputes/<int:pk>/withdraw/", disputes.withdraw, name="dispute-withdraw"),
]
urlpatterns = [
    path("", documents.datasets, name="list"),
    path("new/", documents.new_dataset, name="new"),
    path("<slug:slug>/", include(_dataset_pages)),
]


def _endpoint(route: str, view: type[APIView], name: str) -> URLPattern:
    return path(route, view.as_view(), name=name)


_document_endpoints = [
    _endpoint("", documents_api.DocumentDetail, "document"),
    _endpoint("images/", documents_api.DocumentImages, "document-images"),
    _endpoint("images/<int:number>/", documents_api.DocumentImage, "document-image"),
    _endpoint("images/<int:number>/thumbnail/", documents_api.ImageThumbnail, "document-thumbnail"),
    _endpoint("boxes/", documents_api.DocumentBoxes, "document-boxes"),
]
_import_endpoints = [
    _endpoint("", imports_api.ImportDetail, "import"),
    _endpoint("items/", imports_api.ImportItems, "import-items"),
    _endpoint("items/download/", imports_api.ImportItemsDownload, "import-items-download"),
    _endpoint("cancel/", imports_api.ImportCancel, "import-cancel"),
    _endpoint("carry-out/", imports_api.ImportCarryOut, "import-carry-out"),
]
_batch_endpoints = [
    _endpoint("", acceptance_api.BatchDetail, "batch"),
    _endpoint("close/", acceptance_api.BatchClose, "batch-close"),
    _endpoint("put-back/", acceptance_api.BatchPutBack, "batch-put-back"),
    _endpoint("report/", acceptance_api.BatchReport, "batch-report"),
    _endpoint("documents/", acceptance_api.BatchSample, "batch-sample"),
    _endpoint("documents/<str:name>/", acceptance_api.BatchDocumentFields, "batch-document"),
    _endpoint(
        "documents/<str:name>/clear/", acceptance_api.BatchVerdictClear, "batch-verdict-clear"
    ),
]
_release_endpoints = [
    _endpoint("", releases_api.ReleaseDetail, "release"),
    _endpoint("items/", releases_api.ReleaseItems, "release-items"),
    _endpoint("download/", releases_api.ReleaseDownload, "release-download"),
    _endpoint("files/<str:name>", releases_api.ReleaseFile, "release-file"),
    _endpoint("starter-kit/", releases_api.StarterKit, "starter-kit"),
    _endpoint("accept-licence/", releases_api.AcceptLicence, "accept-licence"),
    _endpoint("diff/<str:other>/", releases_api.ReleaseDiff, "release-diff"),
]
_dataset_endpoints: list[URLPattern | URLResolver] = [
    _endpoint("", documents_api.DatasetDetail, "dataset"),
    _endpoint("documents/", documents_api.DocumentList, "documents"),
    path("documents/<str:name>/", include(_document_endpoints)),
    _endpoint("bulk-edit/", documents_api.BulkEdit, "bulk-edit"),
    _endpoint("tasks/", documents_api.TaskList, "tasks"),
    _endpoint("tasks/<int:pk>/", documents_api.TaskDetail, "task"),
    _endpoint("tasks/<int:pk>/cancel/", documents_api.TaskCancel, "task-cancel"),
    _endpoint("statistics/", documents_api.DatasetStatisticsDetail, "statistics"),
    _endpoint("statistics/export/", documents_api.DatasetStatisticsExport, "statistics-export"),
    _endpoint("imports/", imports_api.ImportList, "imports"),
    path("imports/<int:pk>/", include(_import_endpoints)),
    _endpoint("batches/", acceptance_api.BatchList, "batches"),
    path("batches/<int:number>/", include(_batch_endpoints)),
    _endpoint("personal-data/", curation_api.FindingList, "personal-data"),
    _endpoint("personal-data/decide/", curation_api.FindingsDecide, "personal-data-decide"),
    _endpoint("duplicates/", curation_api.DuplicateList, "duplicates"),
    _endpoint("duplicates/<int:pk>/", curation_api.DuplicateDetail, "duplicate"),
    _endpoint("selections/", curation_api.SelectionList, "selections"),
    _endpoint("selections/<int:pk>/", curation_api.SelectionDetail, "selection"),
    _endpoint("selections/<int:pk>/check/", curation_api.SelectionCheck, "selection-check"),
    _endpoint("releases/", releases_api.ReleaseList, "releases"),
    path("releases/<str:version>/", include(_release_endpoints)),
    _endpoint("variants/", variants_api.VariantList, "variants"),
    _endpoint("disputes/", disputes_api.DisputeList, "disputes"),
    _endpoint("corrections/", disputes_api.CorrectionList, "corrections"),
    _endpoint("disputes/<int:pk>/", disputes_api.DisputeDetail, "dispute"),
    _endpoint("disputes/<int:pk>/decide/", disputes_api.DisputeDecision, "dispute-decide"),
    _endpoint("disputes/<int:pk>/withdraw/", disputes_api.DisputeWithdrawal, "dispute-withdraw"),
]
api_urlpatterns: list[URLPattern | URLResolver] = [
    _endpoint("datasets/", documents_api.DatasetList, "datasets"),
    path("datasets/<slug:slug>/", include(_dataset_endpoints)),
]
