"""URLs of campaigns: pages, and endpoints below /api/v1/."""

from django.urls import path

from annotation.api_base import campaign_path

from . import api, people_api, people_views, views

urlpatterns = [
    path("campaigns/", views.campaigns, name="campaigns"),
    path("campaigns/new/", views.new_campaign, name="campaign-new"),
    campaign_path("", views.overview, "campaign"),
    campaign_path("open/", views.open_, "campaign-open"),
    campaign_path("close/", views.close, "campaign-close"),
    campaign_path("reopen/", views.reopen, "campaign-reopen"),
    campaign_path("assign/", views.assign, "campaign-assign"),
    campaign_path("settings/", views.settings, "campaign-settings"),
    campaign_path("guidelines/", views.guidelines, "guidelines"),
    campaign_path("people/", people_views.people, "people"),
    campaign_path("people/<int:pk>/remove/", people_views.remove, "person-remove"),
    campaign_path("invitations/<int:pk>/resend/", people_views.resend, "invitation-resend"),
    campaign_path("invitations/<int:pk>/link/", people_views.link, "invitation-link"),
    campaign_path("invitations/<int:pk>/revoke/", people_views.revoke, "invitation-revoke"),
    campaign_path("leave/", people_views.leave, "leave"),
    campaign_path("waiting/", people_views.waiting, "waiting"),
    campaign_path("waiting/remind/", people_views.remind_all, "remind-all"),
    campaign_path("waiting/<int:pk>/remind/", people_views.remind, "remind"),
    campaign_path("release/", views.release, "release"),
]
api_urlpatterns = [
    path("campaigns/", api.CampaignList.as_view(), name="campaigns"),
    campaign_path("", api.CampaignDetailView, "campaign"),
    campaign_path("guidelines/", api.CampaignGuidelinesView, "campaign-guidelines"),
    campaign_path("guidelines/seen/", api.CampaignGuidelinesSeen, "campaign-guidelines-seen"),
    campaign_path("settings/", api.CampaignSettingsView, "campaign-settings"),
    campaign_path("open/", api.CampaignOpen, "campaign-open"),
    campaign_path("close/", api.CampaignClose, "campaign-close"),
    campaign_path("reopen/", api.CampaignReopen, "campaign-reopen"),
    campaign_path("assign/", api.CampaignAssign, "campaign-assign"),
    campaign_path("people/", people_api.CampaignPeople, "campaign-people"),
    campaign_path("people/<int:pk>/", people_api.CampaignPerson, "campaign-person"),
    campaign_path("invitations/", people_api.CampaignInvitations, "campaign-invitations"),
    campaign_path(
        "invitations/<int:pk>/", people_api.CampaignInvitationDetail, "campaign-invitation"
    ),
    campaign_path(
        "invitations/<int:pk>/link/", people_api.CampaignInvitationLink, "campaign-invitation-link"
    ),
    campaign_path(
        "invitations/<int:pk>/resend/",
        people_api.CampaignInvitationResend,
        "campaign-invitation-resend",
    ),
    campaign_path("leave/", people_api.CampaignLeave, "campaign-leave"),
    campaign_path("waiting/", people_api.CampaignWaitingView, "campaign-waiting"),
    campaign_path("waiting/remind/", people_api.CampaignRemindAll, "campaign-remind-all"),
    campaign_path("waiting/<int:pk>/remind/", people_api.CampaignRemind, "campaign-remind"),
    campaign_path("release/", api.CampaignRelease, "campaign-release"),
]
