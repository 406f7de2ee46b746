"""Releases: the list, a release, what changed between two, and the files."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest
from portal.datasets.access import (
    get_dataset,
    get_downloadable_release,
    get_kit_release,
    get_release,
    must_accept_licence,
    seen_splits,
    visible_releases,
)
from portal.datasets.models import Release
from portal.datasets.publishing.croissant import CROISSANT
from portal.datasets.release_files import croissant_file, file_of
from portal.datasets.release_forms import AcceptLicenceForm
from portal.datasets.rendering import (
    release_file_response,
    release_response,
    starter_kit_response,
)
from portal.datasets.selectors.release_diff import diff_page
from portal.datasets.selectors.releases import release_list, release_page
from portal.datasets.services.licences import accept_licence


@require_safe
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    view = release_list(
        request.user,
        dataset,
        visible_releases(request.user, dataset),
        page=request.GET.get("page", "1"),
    )
    return render(request, "datasets/releases.html", {"view": view})


@require_safe
def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    release = get_release(request.user, slug, version)
    page = release_page(
        request.user,
        release,
        releases=visible_releases(request.user, release.dataset),
        page=request.GET.get("page", "1"),
        split=request.GET.get("split", ""),
        address=_address(request, release),
    )
    return render(request, "datasets/release.html", {"view": page})


@require_safe
def diff(request: HttpRequest, slug: str, version: str, other: str) -> HttpResponse:
    one, two = (get_release(request.user, slug, each) for each in (version, other))
    kind = request.GET.get("kind", "")
    page = diff_page(request.user, one, two, kind=kind, page=request.GET.get("page", "1"))
    query = urlencode({"kind": page.kind}) if page.kind else ""
    return render(request, "datasets/release_diff.html", {"view": page, "query": query})


@require_safe
def download(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    release = get_downloadable_release(request.user, slug, version)
    if must_accept_licence(request.user, release):
        return _to_licence(request, release)
    return release_response(
        release,
        images=request.GET.get("images") == "1",
        seen=seen_splits(request.user, release),
    )


@require_safe
def starter_kit(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    release = get_kit_release(request.user, slug, version)
    if must_accept_licence(request.user, release):
        return _to_licence(request, release)
    return starter_kit_response(release, _address(request, release))


@require_safe
def release_file(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """A single file. Citations are open to whoever sees the release, all else to who sees gold."""
    release = get_release(request.user, slug, version)
    file = file_of(release, name)
    if file is not None and not file.holds_gold:
        return release_file_response(release, file, frozenset())
    release = get_downloadable_release(request.user, slug, version)
    seen = seen_splits(request.user, release)
    if name == CROISSANT:
        content = croissant_file(
            release,
            seen,
            page=_address(request, release),
            address=lambda each: request.build_absolute_uri(_file_path(release, each)),
        )
        response = HttpResponse(content, content_type="application/ld+json")
        response["Content-Disposition"] = f'attachment; filename="{CROISSANT}"'
        response["Cache-Control"] = "private"
        return response
    if file is None:
        raise Http404("this release has no such file")
    if must_accept_licence(request.user, release):
        return _to_licence(request, release)
    return release_file_response(release, file, seen)


def licence(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The licence with its checkbox; those who are not signed in are asked to."""
    release = get_release(request.user, slug, version)
    if not release.licence:
        raise Http404("this release has no licence to accept")
    wanted = _wanted(request, release)
    if request.method == "POST":
        return _accept(request, release, wanted)  # type: ignore[arg-type]
    if request.user.is_authenticated and not must_accept_licence(request.user, release):
        return redirect(wanted)
    return _licence_page(request, release, AcceptLicenceForm(), wanted)


@login_required
@require_POST
def _accept(request: UserRequest, release: Release, wanted: str) -> HttpResponse:
    form = AcceptLicenceForm(request.POST)
    if not form.is_valid():
        return _licence_page(request, release, form, wanted)
    accept_licence(release=release, actor=request.user)
    messages.success(request, f"You accepted the licence of {release.version}.")
    return redirect(f"{release.get_absolute_url()}#downloads")


def _licence_page(
    request: HttpRequest, release: Release, form: AcceptLicenceForm, wanted: str
) -> HttpResponse:
    context = {"release": release, "form": form, "wanted": wanted}
    status = 400 if form.errors else 200
    return render(request, "datasets/licence.html", context, status=status)


def _wanted(request: HttpRequest, release: Release) -> str:
    """Where to go on: the download that was asked for, if it is an address of ours."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return release.get_absolute_url()


def _to_licence(request: HttpRequest, release: Release) -> HttpResponse:
    path = reverse("datasets:release-licence", args=[release.dataset.slug, release.version])
    return redirect(f"{path}?{urlencode({'next': request.get_full_path()})}")


def _address(request: HttpRequest, release: Release) -> str:
    return request.build_absolute_uri(release.get_absolute_url())


def _file_path(release: Release, name: str) -> str:
    return reverse("datasets:release-file", args=[release.dataset.slug, release.version, name])
