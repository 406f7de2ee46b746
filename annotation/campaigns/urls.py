"""URLs of campaigns: pages, and endpoints below /api/v1/."""

from django.urls import path

from . import api, people_api, people_views, views

urlpatterns = [
    path("campaigns/", views.campaigns, name="campaigns"),
    path("campaigns/new/", views.new_campaign, name="campaign-new"),
    path("campaigns/<slug:slug>/", views.overview, name="campaign"),
    path("campaigns/<slug:slug>/open/", views.open_, name="campaign-open"),
    path("campaigns/<slug:slug>/close/", views.close, name="campaign-close"),
    path("campaigns/<slug:slug>/reopen/", views.reopen, name="campaign-reopen"),
    path("campaigns/<slug:slug>/assign/", views.assign, name="campaign-assign"),
    path("campaigns/<slug:slug>/settings/", views.settings, name="campaign-settings"),
    path("campaigns/<slug:slug>/guidelines/", views.guidelines, name="guidelines"),
    path("campaigns/<slug:slug>/people/", people_views.people, name="people"),
    path(
        "campaigns/<slug:slug>/people/<int:pk>/remove/", people_views.remove, name="person-remove"
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/resend/",
        people_views.resend,
        name="invitation-resend",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/link/",
        people_views.link,
        name="invitation-link",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/revoke/",
        people_views.revoke,
        name="invitation-revoke",
    ),
    path("campaigns/<slug:slug>/leave/", people_views.leave, name="leave"),
    path("campaigns/<slug:slug>/waiting/", people_views.waiting, name="waiting"),
    path("campaigns/<slug:slug>/waiting/remind/", people_views.remind_all, name="remind-all"),
    path("campaigns/<slug:slug>/waiting/<int:pk>/remind/", people_views.remind, name="remind"),
    path("campaigns/<slug:slug>/release/", views.release, name="release"),
]
api_urlpatterns = [
    path("campaigns/", api.CampaignList.as_view(), name="campaigns"),
    path("campaigns/<slug:slug>/", api.CampaignDetailView.as_view(), name="campaign"),
    path(
        "campaigns/<slug:slug>/guidelines/",
        api.CampaignGuidelinesView.as_view(),
        name="campaign-guidelines",
    ),
    path(
        "campaigns/<slug:slug>/guidelines/seen/",
        api.CampaignGuidelinesSeen.as_view(),
        name="campaign-guidelines-seen",
    ),
    path(
        "campaigns/<slug:slug>/settings/",
        api.CampaignSettingsView.as_view(),
        name="campaign-settings",
    ),
    path("campaigns/<slug:slug>/open/", api.CampaignOpen.as_view(), name="campaign-open"),
    path("campaigns/<slug:slug>/close/", api.CampaignClose.as_view(), name="campaign-close"),
    path("campaigns/<slug:slug>/reopen/", api.CampaignReopen.as_view(), name="campaign-reopen"),
    path("campaigns/<slug:slug>/assign/", api.CampaignAssign.as_view(), name="campaign-assign"),
    path(
        "campaigns/<slug:slug>/people/", people_api.CampaignPeople.as_view(), name="campaign-people"
    ),
    path(
        "campaigns/<slug:slug>/people/<int:pk>/",
        people_api.CampaignPerson.as_view(),
        name="campaign-person",
    ),
    path(
        "campaigns/<slug:slug>/invitations/",
        people_api.CampaignInvitations.as_view(),
        name="campaign-invitations",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/",
        people_api.CampaignInvitationDetail.as_view(),
        name="campaign-invitation",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/link/",
        people_api.CampaignInvitationLink.as_view(),
        name="campaign-invitation-link",
    ),
    path(
        "campaigns/<slug:slug>/invitations/<int:pk>/resend/",
        people_api.CampaignInvitationResend.as_view(),
        name="campaign-invitation-resend",
    ),
    path("campaigns/<slug:slug>/leave/", people_api.CampaignLeave.as_view(), name="campaign-leave"),
    path(
        "campaigns/<slug:slug>/waiting/",
        people_api.CampaignWaitingView.as_view(),
        name="campaign-waiting",
    ),
    path(
        "campaigns/<slug:slug>/waiting/remind/",
        people_api.CampaignRemindAll.as_view(),
        name="campaign-remind-all",
    ),
    path(
        "campaigns/<slug:slug>/waiting/<int:pk>/remind/",
        people_api.CampaignRemind.as_view(),
        name="campaign-remind",
    ),
    path("campaigns/<slug:slug>/release/", api.CampaignRelease.as_view(), name="campaign-release"),
]
