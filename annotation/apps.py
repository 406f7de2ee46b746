from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Services need models, which are there only now.
        from portal.accounts import account_data, offers
        from portal.datasets import deciders

        from .account_data import CampaignData
        from .deciders import CampaignLeads
        from .services.inviting import CampaignOffers

        offers.register(CampaignOffers())
        account_data.register(CampaignData())
        deciders.register(CampaignLeads())
