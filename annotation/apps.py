from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Services need models, which are there only now.
        from annotation.campaigns.people import CampaignOffers
        from portal.accounts import account_data
        from portal.accounts.invitations.selectors import register_offers
        from portal.datasets import access as deciders

        from .access import CampaignLeads
        from .account_data import CampaignData

        register_offers(CampaignOffers())
        account_data.register(CampaignData())
        deciders.register_deciders(CampaignLeads())
