"""A release: its page and its files."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from portal.datasets.access import get_downloadable_release, get_release
from portal.datasets.rendering import release_response
from portal.datasets.selectors.releases import release_page


def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    release = get_release(request.user, slug, version)
    page = release_page(request.user, release, page=request.GET.get("page", "1"))
    return render(request, "datasets/release.html", {"view": page})


def download(request: HttpRequest, slug: str, version: str) -> StreamingHttpResponse:
    release = get_downloadable_release(request.user, slug, version)
    return release_response(release, images=request.GET.get("images") == "1")
