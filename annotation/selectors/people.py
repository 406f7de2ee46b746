"""Who belongs to a campaign, in which roles."""

from dataclasses import dataclass

from annotation.access import Standing
from annotation.models import Membership
from portal.accounts.models import display_name


@dataclass(frozen=True)
class Person:
    """One membership as the people page lists it."""

    pk: int
    name: str
    email: str
    role: str
    removable: bool


def campaign_people(standing: Standing) -> list[Person]:
    """Leads first, then annotators and reviewers, each in the order of joining."""
    order = [Membership.Role.LEAD, Membership.Role.ANNOTATOR, Membership.Role.REVIEWER]
    memberships = (
        Membership.objects.filter(campaign=standing.campaign).select_related("user").order_by("id")
    )
    people = [
        Person(
            pk=membership.pk,
            name=display_name(membership.user),
            email=membership.user.email,
            role=membership.role,
            removable=standing.may_give(membership.role),
        )
        for membership in memberships
    ]
    return sorted(people, key=lambda person: order.index(Membership.Role(person.role)))
