"""One document: its page, its HTML for the sandboxed frame, its images."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from portal.datasets.access import get_document, get_image, get_readable_document
from portal.datasets.rendering import image_response, sandboxed_html_response
from portal.datasets.selectors.documents import document_page


def document(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    context = {"view": document_page(request.user, document)}
    return render(request, "datasets/document.html", context)


def document_html(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_readable_document(request.user, slug, name)
    return sandboxed_html_response(document.content.html)


def document_image(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponseBase:
    return image_response(get_image(request.user, slug, name, number))
