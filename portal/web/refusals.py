"""Refusals of services, and the pages that show them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST


class Refused(Exception):
    """An action that is not possible now. `message` is for users, `code` for programs.

    `field` names the invalid input, if there is one.
    """

    code = "refused"

    def __init__(self, message: str, *, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.field = field


def form_page(
    request: HttpRequest, template: str, form: forms.BaseForm, **context: Any
) -> HttpResponse:
    """Render a page with `form`, with status 400 if the form has errors."""
    status = 400 if form.errors else 200
    return render(request, template, {"form": form, **context}, status=status)


@contextmanager
def errors_in(
    form: forms.BaseForm, refusal: type[Exception] = Refused, *, field: str = ""
) -> Iterator[None]:
    """Add the message of a service's exception to the form, at its `field` if the form has it."""
    try:
        yield
    except refusal as error:
        place = getattr(error, "field", "") or field
        form.add_error(place if place in form.fields else None, str(error))


def post_action(
    to: str, *names: str, refusals: tuple[type[Exception], ...] = (Refused,)
) -> Callable[[Callable[..., str | HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorate a view that acts on a POST request and returns the message of its success.

    The message, or that of a refusal, is shown on the next page: `to`, with the arguments of this
    URL called `names`. A view may also return a response of its own. An empty message is not shown.

        @login_required
        @post_action("teams:people", "slug")
        def promote(request: UserRequest, slug: str, pk: int) -> str:
            member = _managed_member(request, slug, pk)
            make_owner(member=member, actor=request.user)
            return f"{member.user} is now an owner of the team."
    """

    def decorate(act: Callable[..., str | HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @require_POST
        @wraps(act)
        def view(request: HttpRequest, **url: Any) -> HttpResponseBase:
            with ShowRefusals(request, *refusals):
                done = act(request, **url)
                if isinstance(done, HttpResponseBase):
                    return done
                if done:
                    messages.success(request, done)
            return redirect(to, *(url[name] for name in names))

        return view

    return decorate


class ShowRefusals:
    """Turns a service's exception inside the block into an error message on the next page."""

    def __init__(self, request: HttpRequest, *refusals: type[Exception]) -> None:
        self._request, self._refusals = request, refusals or (Refused,)

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if is_refused := isinstance(error, self._refusals):
            messages.error(self._request, str(error))
        return is_refused
