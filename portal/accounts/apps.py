from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "portal.accounts"
    label = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        # These modules need the models, which Django loads before it calls this.
        from allauth.mfa.signals import authenticator_added
        from django.contrib.auth.signals import user_logged_in

        from portal.accounts.invitations.selectors import register_offers
        from portal.accounts.teams.services import TeamOffers

        from .account_data import AccountsData, register_account_data
        from .second_factor import end_older_sessions, refuse_half_login

        register_offers(TeamOffers())
        register_account_data(AccountsData())
        user_logged_in.connect(refuse_half_login)
        authenticator_added.connect(end_older_sessions)
