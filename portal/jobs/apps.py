from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class JobsConfig(AppConfig):
    name = "portal.jobs"
    label = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        # Handlers register when their module is imported. All processes need the registry, not
        # only workers, so it is filled here instead of by Celery.
        autodiscover_modules("tasks")
