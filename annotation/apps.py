from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Imported here because these modules need the models.
        from annotation.campaigns.people import CampaignOffers
        from portal.accounts.account_data import register_account_data
        from portal.accounts.invitations.selectors import register_offers
        from portal.datasets.access import register_deciders

        from .access import CampaignLeads
        from .account_data import CampaignData

        register_offers(CampaignOffers())
        register_account_data(CampaignData())
        register_deciders(CampaignLeads())
