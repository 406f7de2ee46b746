from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "portal.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        # They need models, which are there only now.
        from . import account_data
        from .offers import register_offers
        from .own_data import AccountsData
        from .teams.inviting import TeamOffers

        register_offers(TeamOffers())
        account_data.register(AccountsData())
