"""URLs of submissions: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("boards/<slug:slug>/submit/", views.submit, name="submit"),
    path("boards/<slug:slug>/manage/", views.manage, name="board-manage"),
    path("submissions/", views.submissions, name="submissions"),
    path("submissions/webhooks/", views.webhooks, name="webhooks"),
    path("submissions/webhooks/<int:pk>/remove/", views.webhook_remove, name="webhook-remove"),
    path("submissions/<int:pk>/", views.submission, name="submission"),
    path("submissions/<int:pk>/citation.bib", views.citation, name="submission-bibtex"),
    path("submissions/<int:pk>/file/", views.download, name="submission-file"),
    path("submissions/<int:pk>/manifest.json", views.manifest, name="submission-manifest"),
    path("submissions/<int:pk>/cancel/", views.cancel, name="submission-cancel"),
    path("submissions/<int:pk>/retry/", views.retry, name="submission-retry"),
    path("submissions/<int:pk>/publish/", views.publish, name="submission-publish"),
    path("submissions/<int:pk>/unpublish/", views.unpublish, name="submission-unpublish"),
    path("submissions/<int:pk>/open-items/", views.open_up, name="submission-open-items"),
    path("submissions/<int:pk>/withdraw/", views.withdraw, name="submission-withdraw"),
    path("submissions/<int:pk>/verdict/", views.judge, name="submission-judge"),
    path("submissions/<int:pk>/pin/", views.pin, name="submission-pin"),
]
api_urlpatterns = [
    path(
        "boards/<slug:slug>/submissions/",
        api.BoardSubmissions.as_view(),
        name="board-submissions",
    ),
    path(
        "boards/<slug:slug>/likenesses/",
        api.BoardSimilarities.as_view(),
        name="board-likenesses",
    ),
    path("boards/<slug:slug>/check/", api.BoardCheck.as_view(), name="board-check"),
    path("submissions/", api.OwnSubmissions.as_view(), name="submissions"),
    path("submissions/<int:pk>/", api.SubmissionDetail.as_view(), name="submission"),
    path(
        "submissions/<int:pk>/file/",
        api.SubmissionFile.as_view(),
        name="submission-file",
    ),
    path(
        "submissions/<int:pk>/manifest/",
        api.SubmissionManifest.as_view(),
        name="submission-manifest",
    ),
    path(
        "submissions/<int:pk>/cancel/",
        api.SubmissionCancel.as_view(),
        name="submission-cancel",
    ),
    path(
        "submissions/<int:pk>/retry/",
        api.SubmissionRetry.as_view(),
        name="submission-retry",
    ),
    path(
        "submissions/<int:pk>/publish/",
        api.SubmissionPublish.as_view(),
        name="submission-publish",
    ),
    path(
        "submissions/<int:pk>/unpublish/",
        api.SubmissionUnpublish.as_view(),
        name="submission-unpublish",
    ),
    path(
        "submissions/<int:pk>/open-items/",
        api.SubmissionOpenItems.as_view(),
        name="submission-open-items",
    ),
    path(
        "submissions/<int:pk>/withdraw/",
        api.SubmissionWithdraw.as_view(),
        name="submission-withdraw",
    ),
    path("submissions/<int:pk>/verdict/", api.SubmissionJudge.as_view(), name="submission-judge"),
    path("submissions/<int:pk>/pin/", api.SubmissionPin.as_view(), name="submission-pin"),
    path("webhooks/", api.WebhookList.as_view(), name="webhooks"),
    path("webhooks/<int:pk>/", api.WebhookDetail.as_view(), name="webhook"),
]
