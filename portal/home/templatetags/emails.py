"""Template tags about emails, for sites that do not send any."""

from django import template

from portal.accounts.emails import EmailRoute, email_route

register = template.Library()


@register.simple_tag(name="email_route")
def route() -> EmailRoute:
    return email_route()
