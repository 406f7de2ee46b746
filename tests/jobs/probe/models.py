"""Results of the probe's handler, without constraints, so that duplicates would show."""

from typing import ClassVar

from django.db import models


class ProbeItem(models.Model):
    item = models.PositiveIntegerField()
    job_id = models.BigIntegerField()
    attempt = models.PositiveIntegerField()
    pid = models.PositiveIntegerField()
    # A unique value per write of a writer process; the worker leaves it empty.
    note = models.CharField(max_length=40, blank=True)

    # Spelt out for the type checker, whose settings do not have this app.
    objects: ClassVar["models.Manager[ProbeItem]"] = models.Manager()
