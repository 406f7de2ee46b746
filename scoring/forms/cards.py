"""The fields of a model card, in the order of the model."""

from scoring.models import ModelCard

CARD_FIELDS = [field.name for field in ModelCard._meta.local_fields]
# What everybody is asked for at first; the rest of the card is one click away.
SHORT_CARD = ("name", "organisation", "size", "category", "link", "notes")
