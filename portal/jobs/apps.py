from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class JobsConfig(AppConfig):
    name = "portal.jobs"
    label = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        # Handlers register when their module is imported. Commands, web processes and tests need
        # the registry as much as workers do, so it is filled here and not left to Celery.
        autodiscover_modules("tasks")
