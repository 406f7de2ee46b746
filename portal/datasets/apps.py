from django.apps import AppConfig


class DatasetsConfig(AppConfig):
    name = "portal.datasets"
    label = "datasets"
    verbose_name = "Datasets"

    def ready(self) -> None:
        # It needs models, which are there only now.
        from portal.accounts import account_data

        from .account_data import DatasetData

        account_data.register(DatasetData())
