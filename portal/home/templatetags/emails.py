"""What pages may say of emails: that one was sent is true only where this site sends any."""

from django import template

from portal.accounts.emails import EmailRoute, email_route

register = template.Library()


@register.simple_tag(name="email_route")
def route() -> EmailRoute:
    return email_route()
