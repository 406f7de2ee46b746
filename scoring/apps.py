from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        # These modules need the models, which Django loads before it calls this.
        from django.conf import settings
        from django.db.models.signals import post_save

        from portal.accounts.account_data import register_account_data
        from portal.accounts.models import Team
        from scoring.benchmarks import BENCHMARKS
        from scoring.judge import use_folder
        from scoring.leaderboard.services import bump_boards_of_team

        from .account_data import SubmissionData
        from .benchmark_setup import build_receiptbench, register_formats

        register_formats()
        use_folder(settings.PROMPTS_FOLDER)
        BENCHMARKS.build_by("receiptbench", build_receiptbench)
        register_account_data(SubmissionData())
        post_save.connect(bump_boards_of_team, sender=Team, dispatch_uid="bump_boards_of_team")
