from django.apps import AppConfig, apps


class AccountsConfig(AppConfig):
    name = "portal.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        # These modules need the models, which Django loads before it calls this.
        from portal.accounts.invitations.selectors import register_offers
        from portal.accounts.teams.services import TeamOffers

        from .account_data import AccountsData, register_account_data

        register_offers(TeamOffers())
        register_account_data(AccountsData())
        # Not installed in the processes of tests that only run jobs.
        if apps.is_installed("allauth.mfa"):
            from . import second_factor

            second_factor.connect()
