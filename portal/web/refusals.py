"""Refusals of services, and the pages that show them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


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


class ShowRefusals:
    """Turns a service's exception inside the block into an error message on the next page."""

    def __init__(self, request: HttpRequest, refusal: type[Exception] = Refused) -> None:
        self._request, self._refusal = request, refusal

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if is_refused := isinstance(error, self._refusal):
            messages.error(self._request, str(error))
        return is_refused
