from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Services need models, which are there only now.
        from portal.accounts import offers

        from .services.inviting import CampaignOffers

        offers.register(CampaignOffers())
