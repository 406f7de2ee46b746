from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Services need models, which are there only now.
        from portal.accounts import account_data
        from portal.accounts.invitations.selectors import register_offers
        from portal.datasets import deciders

        from .account_data import CampaignData
        from .deciders import CampaignLeads
        from .services.inviting import CampaignOffers

        register_offers(CampaignOffers())
        account_data.register(CampaignData())
        deciders.register(CampaignLeads())
