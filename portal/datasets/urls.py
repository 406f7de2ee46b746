"""Addresses under /datasets/."""

from django.urls import path

from .acceptance import views as acceptance
from .acceptance import views as inspections
from .curation import views as curation
from .curation import views as selections
from .disputes import views as disputes
from .documents import views as datasets
from .documents import views as documents
from .documents import views as images
from .documents import views as statistics
from .documents import views as table
from .documents import views as tasks
from .imports import views as imports
from .releases import views as new_release
from .releases import views as releases
from .variants import views as variants

app_name = "datasets"
urlpatterns = [
    path("", datasets.datasets, name="list"),
    path("new/", datasets.new_dataset, name="new"),
    path("<slug:slug>/", datasets.dataset, name="detail"),
    path("<slug:slug>/edit/", datasets.edit, name="edit"),
    path("<slug:slug>/import/", imports.new_import, name="import"),
    path("<slug:slug>/imports/<int:pk>/", imports.import_run, name="import-run"),
    path("<slug:slug>/imports/<int:pk>/cancel/", imports.cancel, name="import-cancel"),
    path(
        "<slug:slug>/imports/<int:pk>/report.csv",
        imports.import_report_file,
        {"form": "csv"},
        name="import-report-csv",
    ),
    path(
        "<slug:slug>/imports/<int:pk>/report.jsonl",
        imports.import_report_file,
        {"form": "jsonl"},
        name="import-report-jsonl",
    ),
    path("<slug:slug>/images/", images.images, name="images"),
    path("<slug:slug>/tasks/", tasks.tasks, name="tasks"),
    path("<slug:slug>/tasks/<int:pk>/", tasks.task, name="task"),
    path("<slug:slug>/tasks/<int:pk>/cancel/", tasks.cancel, name="task-cancel"),
    path("<slug:slug>/batches/", acceptance.batches, name="batches"),
    path("<slug:slug>/batches/new/", acceptance.new_batch, name="batch-new"),
    path("<slug:slug>/batches/<int:number>/", acceptance.batch, name="batch"),
    path("<slug:slug>/batches/<int:number>/close/", acceptance.close, name="batch-close"),
    path("<slug:slug>/batches/<int:number>/put-back/", acceptance.put_back, name="batch-put-back"),
    path("<slug:slug>/batches/<int:number>/report/", acceptance.report, name="batch-report"),
    path(
        "<slug:slug>/batches/<int:number>/inspect/", inspections.inspect_next, name="inspect-next"
    ),
    path(
        "<slug:slug>/batches/<int:number>/inspect/<str:name>/", inspections.inspect, name="inspect"
    ),
    path("<slug:slug>/statistics/", statistics.statistics, name="statistics"),
    path("<slug:slug>/statistics/export/", statistics.statistics_export, name="statistics-export"),
    path("<slug:slug>/documents/", table.table, name="table"),
    path("<slug:slug>/bulk-edit/", table.bulk_edit, name="bulk-edit"),
    path("<slug:slug>/personal-data/", curation.personal_data, name="personal-data"),
    path("<slug:slug>/personal-data/scan/", curation.scan, name="personal-data-scan"),
    path("<slug:slug>/duplicates/", curation.duplicates, name="duplicates"),
    path("<slug:slug>/duplicates/<int:pk>/", curation.duplicate, name="duplicate"),
    path("<slug:slug>/content/", curation.content, name="content"),
    path("<slug:slug>/selections/", selections.selections, name="selections"),
    path("<slug:slug>/selections/new/", selections.new_selection, name="selection-new"),
    path("<slug:slug>/selections/<int:pk>/", selections.selection, name="selection"),
    path(
        "<slug:slug>/selections/<int:pk>/download/",
        selections.selection_download,
        name="selection-download",
    ),
    path("<slug:slug>/documents/<str:name>/", documents.document, name="document"),
    path("<slug:slug>/documents/<str:name>/edit/", table.document_edit, name="document-edit"),
    path("<slug:slug>/documents/<str:name>/html/", documents.document_html, name="document-html"),
    path("<slug:slug>/documents/<str:name>/images/", images.upload, name="document-images"),
    path(
        "<slug:slug>/documents/<str:name>/images/remove/",
        images.remove_rendered,
        name="document-images-remove",
    ),
    path(
        "<slug:slug>/documents/<str:name>/images/<int:number>/",
        documents.document_image,
        name="document-image",
    ),
    path(
        "<slug:slug>/documents/<str:name>/images/<int:number>/thumbnail/",
        images.thumbnail,
        name="document-thumbnail",
    ),
    path("<slug:slug>/releases/", releases.releases, name="releases"),
    path("<slug:slug>/releases/new/", new_release.new_release, name="release-new"),
    path("<slug:slug>/releases/restore/", new_release.restore, name="release-restore"),
    path("<slug:slug>/releases/<str:version>/", releases.release, name="release"),
    path(
        "<slug:slug>/releases/<str:version>/download/", releases.download, name="release-download"
    ),
    path(
        "<slug:slug>/releases/<str:version>/starter-kit/",
        releases.starter_kit,
        name="starter-kit",
    ),
    path(
        "<slug:slug>/releases/<str:version>/files/<str:name>",
        releases.release_file,
        name="release-file",
    ),
    path("<slug:slug>/releases/<str:version>/licence/", releases.licence, name="release-licence"),
    path(
        "<slug:slug>/releases/<str:version>/diff/<str:other>/",
        releases.diff,
        name="release-diff",
    ),
    path("<slug:slug>/variants/", variants.variants, name="variants"),
    path("<slug:slug>/variants/new/", variants.new_variant, name="variant-new"),
    path("<slug:slug>/carry/", variants.carry, name="variant-carry"),
    path("<slug:slug>/contact-sheet/", variants.contact_sheet, name="contact-sheet"),
    path("<slug:slug>/disputes/", disputes.disputes, name="disputes"),
    path("<slug:slug>/disputes/<int:pk>/", disputes.dispute, name="dispute"),
    path("<slug:slug>/disputes/<int:pk>/decide/", disputes.decide, name="dispute-decide"),
    path("<slug:slug>/disputes/<int:pk>/withdraw/", disputes.withdraw, name="dispute-withdraw"),
    path(
        "<slug:slug>/releases/<str:version>/items/<str:name>/",
        disputes.release_item,
        name="release-item",
    ),
    path(
        "<slug:slug>/releases/<str:version>/items/<str:name>/dispute/",
        disputes.new_dispute,
        name="dispute-new",
    ),
]
