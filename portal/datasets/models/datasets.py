"""A dataset: a named collection of documents."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse

# Words that stand where a slug would stand in the address.
RESERVED_SLUGS = frozenset({"new"})


def check_slug_is_free(slug: str) -> None:
    if slug in RESERVED_SLUGS:
        raise ValidationError(f"“{slug}” is an address of the site; choose another one.")


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def public(self) -> "DatasetQuerySet":
        """Those that everybody may see; a variant shows no more than what it is made from."""
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
        help_text="Its address, in letters, digits and hyphens. It cannot be changed later.",
    )
    title = models.CharField(max_length=160)
    description = models.TextField(blank=True, help_text="Markdown.")
    licence = models.CharField(
        max_length=160, blank=True, help_text="Under which the documents may be used."
    )
    visibility = models.CharField(
        max_length=10,
        choices=Visibility,
        default=Visibility.PRIVATE,
        help_text="Documents of a release whose gold is hidden stay hidden in a public dataset.",
    )
    is_sample = models.BooleanField(default=False)
    derived_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="variants"
    )
    derivation = models.JSONField(
        null=True,
        blank=True,
        help_text="{kind, strength, seed, version} of the simulated captures in it.",
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
            message = f"It shows the pages of “{base}”, which is private."
            raise ValidationError({"visibility": message})

    @property
    def simulation(self) -> str:
        """The simulated capture of a stress variant in words; empty for real images."""
        if not self.derivation:
            return ""
        words = str(self.derivation.get("title") or self.derivation["kind"])
        words = words[:1].lower() + words[1:]
        strength = self.derivation["strength"]
        return words if strength is None else f"{words} {strength:g}"
