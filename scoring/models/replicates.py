"""Replicates: what a figure would have been with other documents drawn."""

from django.db import models

from .gradings import Grading


class Replicate(models.Model):
    """One figure of a finished grading, resampled; by it entries are compared and ranked.

    Rows with the same `key` were drawn alike: they can be compared resample by resample.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="replicates")
    figure = models.CharField(max_length=60, help_text="A column's key.")
    key = models.CharField(max_length=64)
    value = models.FloatField(null=True, help_text="The figure itself; empty: nothing counted.")
    low = models.FloatField(null=True, help_text="Of the 95 % interval over documents.")
    high = models.FloatField(null=True)
    values = models.BinaryField(help_text="A little-endian float64 for every resample.")

    class Meta:
        ordering = ["grading", "figure"]
        constraints = [models.UniqueConstraint(fields=["grading", "figure"], name="replicate_once")]

    def __str__(self) -> str:
        return f"{self.figure} of grading {self.grading_id}, resampled"
