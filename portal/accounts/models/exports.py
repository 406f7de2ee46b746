"""Files in which people take along what the site knows about them."""

from django.conf import settings
from django.db import models


class AccountExport(models.Model):
    """One file, made by a job and deleted some days later. Its owner alone may load it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        READY = "ready"
        FAILED = "failed"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="data_exports"
    )
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    file = models.FileField(upload_to="account-exports/", max_length=200, blank=True)
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="When the file is deleted.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"export {self.pk} ({self.state})"

    @property
    def path(self) -> str:
        """Of its file in the storage, whether that is there or not."""
        return str(self.file.name)

    @property
    def job_group(self) -> str:
        return f"account-export-{self.pk}"
