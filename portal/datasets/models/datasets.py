"""A dataset: a named collection of documents."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse

# Path components of other pages that a slug must not use.
RESERVED_SLUGS = frozenset({"new"})


def check_slug_is_free(slug: str) -> None:
    if slug in RESERVED_SLUGS:
        raise ValidationError(f"“{slug}” is reserved by the site. Choose another name.")


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def public(self) -> "DatasetQuerySet":
        """Datasets that everyone may see; a variant only if its original is public."""
        public = Dataset.Visibility.PUBLIC
        return self.filter(
            models.Q(derived_from=None) | models.Q(derived_from__visibility=public),
            visibility=public,
        )


class Dataset(models.Model):
    class Visibility(models.TextChoices):
        PRIVATE = "private", "private: organisers and the campaign's people"
        PUBLIC = "public", "public: anyone may read its documents"

    slug = models.SlugField(
        max_length=80,
        unique=True,
        validators=[check_slug_is_free],
        help_text="The name in URLs: a–z, digits and hyphens. You cannot change it later.",
    )
    title = models.CharField(max_length=160)
    description = models.TextField(blank=True, help_text="Markdown.")
    licence = models.CharField(
        max_length=160, blank=True, help_text="The licence of the documents."
    )
    visibility = models.CharField(
        max_length=10,
        choices=Visibility,
        default=Visibility.PRIVATE,
        help_text="Documents of a release with hidden gold stay hidden in a public dataset.",
    )
    is_sample = models.BooleanField(default=False)
    derived_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="variants"
    )
    derivation = models.JSONField(
        null=True,
        blank=True,
        help_text="{kind, strength, seed, version} of its simulated captures.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("datasets:detail", args=[self.slug])

    def clean(self) -> None:
        base, public = self.derived_from, self.Visibility.PUBLIC
        if base is not None and self.visibility == public and base.visibility != public:
            message = f"A variant of “{base}” cannot be public while the original is private."
            raise ValidationError({"visibility": message})

    @property
    def simulation(self) -> str:
        """The simulated capture of a stress variant as text; empty for real images."""
        if not self.derivation:
            return ""
        words = str(self.derivation.get("title") or self.derivation["kind"])
        words = words[:1].lower() + words[1:]
        strength = self.derivation["strength"]
        return words if strength is None else f"{words} {strength:g}"
