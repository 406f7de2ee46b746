from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "portal.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        # They need models, which are there only now.
        from portal.accounts.invitations.selectors import register_offers
        from portal.accounts.teams.services import TeamOffers

        from . import account_data
        from .own_data import AccountsData

        register_offers(TeamOffers())
        account_data.register(AccountsData())
