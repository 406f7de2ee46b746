from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "portal.datasets"
    label = "datasets"
    verbose_name = "Datasets"

    def ready(self) -> None:
        # These modules need the models, which Django loads before it calls this.
        from portal.accounts.account_data import register_account_data

        from .account_data import DatasetData

        register_account_data(DatasetData())
