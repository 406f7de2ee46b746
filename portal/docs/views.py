"""The documentation: index with search, one page, its images."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from . import pages

LONGEST_QUERY = 100


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")[:LONGEST_QUERY]
    context = {"page": pages.page(pages.INDEX), "query": query, "found": pages.find(query)}
    return render(request, "docs/index.html", context)


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        shown = pages.page(slug)
    except KeyError:
        raise Http404(f"There is no documentation page {slug!r}.") from None
    return render(request, "docs/page.html", {"page": shown})


@cache_control(max_age=3600, public=True)
@require_safe
def image(_request: HttpRequest, name: str) -> FileResponse:
    if name not in pages.images():
        raise Http404(f"There is no image {name!r} in the documentation.")
    return FileResponse((pages.FOLDER / "images" / name).open("rb"), content_type="image/png")
