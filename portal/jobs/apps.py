from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.module_loading import autodiscover_modules

from portal import schema


class JobsConfig(AppConfig):
    name = "portal.jobs"
    label = "jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        # Handlers register when their module is imported. All processes need the registry, not
        # only workers, so it is filled here instead of by Celery.
        autodiscover_modules("tasks")
        pre_migrate.connect(schema.refuse_foreign, sender=self)
        post_migrate.connect(schema.record_digests, sender=self)
