from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        # They need models, which are there only now.
        from portal.accounts import account_data
        from scoring.gold_formats import register_formats

        from .account_data import SubmissionData

        register_formats()
        account_data.register(SubmissionData())
