"""One document: its page, its HTML for the sandboxed frame, its images."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from portal.accounts.access import is_organiser
from portal.datasets.access import get_document, get_image, get_readable_document, may_read
from portal.datasets.forms import ImageForm
from portal.datasets.models import Document
from portal.datasets.rendering import image_response, sandboxed_html_response
from portal.datasets.selectors.documents import document_page
from portal.datasets.selectors.page_content import page_content


def document(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    may_manage = is_organiser(request.user)
    view = document_page(request.user, document)
    context = {
        "view": view,
        "content": page_content(document) if may_manage else None,
        "may_manage": may_manage,
        "upload": ImageForm(numbers=[image.number for image in view.images]),
    }
    return render(request, "datasets/document.html", context)


def document_html(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    document = get_readable_document(request.user, slug, name)
    if document.kind == Document.Kind.PICTURE:
        raise Http404("a picture has no HTML")
    return sandboxed_html_response(document.content.html)


def document_image(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponseBase:
    image = get_image(request.user, slug, name, number)
    return image_response(image, bare=not may_read(request.user, image.document))
