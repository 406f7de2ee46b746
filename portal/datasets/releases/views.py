"""Pages of releases: list, detail, comparison, downloads, licence, freezing and restoring."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.access import (
    get_dataset,
    get_downloadable_release,
    get_kit_release,
    get_release,
    gold_splits_for,
    must_accept_licence,
    visible_releases,
)
from portal.datasets.imaging.stored import StoredFileError
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.publishing.croissant import CROISSANT, bibtex, citation_cff
from portal.datasets.releases.publishing.manifest import SCHEMES
from portal.datasets.releases.publishing.rows import draw_words
from portal.files.uploads import archive_limits, was_too_large
from portal.web.refusals import ShowRefusals, form_page
from portal.web.requests import refuse_unknown

from .corrections import planned_corrections
from .exports import published_release
from .files import (
    croissant_response,
    get_release_file,
    gold_files,
    release_file_response,
    release_prompts,
    release_response,
    starter_kit_response,
)
from .forms import AcceptLicenceForm, NewReleaseForm, RestoreForm
from .freezing import draft_notes, freeze_or_queue, is_quick, running_freeze, stored_upload
from .gold import ReleaseError
from .overlaps import OverlapError, own_hidden_versions
from .restoring import restore_release
from .selectors import (
    diff_page,
    exposed_items,
    listed_releases,
    release_items,
    release_rows,
    split_rows,
)
from .services import (
    accept_licence,
    documents_without_image,
    freeze_remarks,
    freeze_warnings,
    open_gold_of_dataset,
    suggest_version,
)

ITEMS_PER_PAGE = 50
RELEASES_PER_PAGE = 25


@require_safe
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    pages = Paginator(listed_releases(request.user, dataset), RELEASES_PER_PAGE)
    context = {
        "dataset": dataset,
        "page": pages.get_page(request.GET.get("page")),
        "may_manage": is_organiser(request.user),
    }
    return render(request, "datasets/releases/releases.html", context)


@require_safe
def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The release with a page of its items, optionally of one split only."""
    release, may_manage = get_release(request.user, slug, version), is_organiser(request.user)
    gold_splits = gold_splits_for(request.user, release)
    splits, split = split_rows(release, gold_splits), request.GET.get("split", "")
    items = release_items(release)
    if is_split := split in {row.split for row in splits}:
        items = items.filter(split=split)
    page = Paginator(items, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    published = published_release(release, gold_splits, page=_absolute_url(request, release))
    earlier = visible_releases(request.user, release.dataset).filter(pk__lt=release.pk)
    context = {
        "release": release,
        "dataset": release.dataset,
        "may_manage": may_manage,
        "gold": gold_splits is None,
        "some_gold": gold_splits is None or any(row.is_open for row in splits),
        "exposed": exposed_items(release) if may_manage else 0,
        "must_accept": must_accept_licence(request.user, release),
        "previous": earlier.order_by("-pk").first(),
        "files": gold_files(release),
        "prompts": release_prompts(release),
        "bibtex": bibtex(published),
        "cff": citation_cff(published),
        "hash_covers": SCHEMES[release.scheme],
        "drawn": draw_words(release.draw),
        "splits": splits,
        "split": split if is_split else "",
        "page": page,
        "rows": release_rows(request.user, release, page),
    }
    return render(request, "datasets/releases/release.html", context)


@require_safe
def diff(request: HttpRequest, slug: str, version: str, other: str) -> HttpResponse:
    one, two = (get_release(request.user, slug, each) for each in (version, other))
    kind = request.GET.get("kind", "")
    page = diff_page(request.user, one, two, kind=kind, page=request.GET.get("page", "1"))
    query = urlencode({"kind": page.kind}) if page.kind else ""
    context = {"view": page, "query": query, "dataset": one.dataset}
    return render(request, "datasets/releases/release_diff.html", context)


@require_safe
def download(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    refuse_unknown(request, {"images"})
    release = get_downloadable_release(request.user, slug, version)
    if must_accept_licence(request.user, release):
        return _to_licence(request, release)
    gold_splits = gold_splits_for(request.user, release)
    with ShowRefusals(request, StoredFileError):
        return release_response(release, gold_splits, images=request.GET.get("images") == "1")
    return redirect(release)


@require_safe
def starter_kit(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    refuse_unknown(request, ())
    release = get_kit_release(request.user, slug, version)
    if must_accept_licence(request.user, release):
        return _to_licence(request, release)
    with ShowRefusals(request, StoredFileError):
        return starter_kit_response(release, _absolute_url(request, release))
    return redirect(release)


@require_safe
def release_file(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """A single file. Citations are open to anyone who sees the release; the rest needs gold."""
    refuse_unknown(request, ())
    release, file, gold_splits = get_release_file(request.user, slug, version, name)
    if file is None:
        response = croissant_response(
            release,
            gold_splits,
            page=_absolute_url(request, release),
            file_url=lambda each: request.build_absolute_uri(_file_path(release, each)),
        )
        response["Content-Disposition"] = f'attachment; filename="{CROISSANT}"'
        return response
    if file.holds_gold and must_accept_licence(request.user, release):
        return _to_licence(request, release)
    return release_file_response(release, file, gold_splits)


def licence(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The licence with a form to accept it; anonymous users are asked to sign in."""
    release = get_release(request.user, slug, version)
    if not release.licence:
        raise Http404("this release has no licence to accept")
    next_url = _next_url(request, release)
    if request.method == "POST":
        return _accept(request, release, next_url)  # type: ignore[arg-type]
    if request.user.is_authenticated and not must_accept_licence(request.user, release):
        return redirect(next_url)
    return _licence_page(request, release, AcceptLicenceForm(), next_url)


@login_required
@require_POST
def _accept(request: UserRequest, release: Release, next_url: str) -> HttpResponse:
    form = AcceptLicenceForm(request.POST)
    if not form.is_valid():
        return _licence_page(request, release, form, next_url)
    accept_licence(release=release, actor=request.user)
    messages.success(request, f"Licence of release {release.version} accepted.")
    return redirect(f"{release.get_absolute_url()}#downloads")


def _licence_page(
    request: HttpRequest, release: Release, form: AcceptLicenceForm, next_url: str
) -> HttpResponse:
    about = {"release": release, "dataset": release.dataset, "next_url": next_url}
    return form_page(request, "datasets/releases/licence.html", form, **about)


def _next_url(request: HttpRequest, release: Release) -> str:
    """The requested download if its URL belongs to this site, else the release page."""
    next_url = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(next_url, allowed_hosts=None):
        return next_url
    return release.get_absolute_url()


def _to_licence(request: HttpRequest, release: Release) -> HttpResponse:
    path = reverse("datasets:release-licence", args=[release.dataset.slug, release.version])
    return redirect(f"{path}?{urlencode({'next': request.get_full_path()})}")


def _absolute_url(request: HttpRequest, release: Release) -> str:
    return request.build_absolute_uri(release.get_absolute_url())


def _file_path(release: Release, name: str) -> str:
    return reverse("datasets:release-file", args=[release.dataset.slug, release.version, name])


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_release(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = _form(request, dataset)
    if form.is_bound and form.is_valid():
        try:
            if (answer := _answer(request, dataset, form)) is not None:
                return answer
        except ReleaseError as error:
            _refused(form, error)
    return _new_release_page(request, dataset, form, RestoreForm())


def _refused(form: NewReleaseForm | RestoreForm, error: ReleaseError) -> None:
    form.add_error(None, error.faults)
    if isinstance(error, OverlapError) and error.count:
        form.offer_overlaps(error.count)


@organiser_required
@require_POST
def restore(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = RestoreForm(request.POST, request.FILES, too_large=was_too_large(request))
    if form.is_valid():
        try:
            with stored_upload(form.upload) as path:
                assert path is not None
                release = restore_release(
                    dataset=dataset,
                    path=path,
                    limits=archive_limits(),
                    actor=request.user,
                    accept_overlaps=form.accepted_overlaps(),
                )
            return _frozen(request, release)
        except ReleaseError as error:
            _refused(form, error)
    return _new_release_page(request, dataset, _unbound(dataset), form)


def _form(request: UserRequest, dataset: Dataset) -> NewReleaseForm:
    if request.method != "POST":
        return _unbound(dataset)
    return NewReleaseForm(
        request.POST, request.FILES, dataset=dataset, too_large=was_too_large(request)
    )


def _unbound(dataset: Dataset) -> NewReleaseForm:
    initial: dict[str, Any] = {"version": suggest_version(dataset)}
    newest = dataset.releases.order_by("-pk").first()
    if newest is not None:
        # The settings of the newest release are usually right for the next one.
        citation = newest.citation
        initial |= {
            "visibility": newest.visibility,
            "licence": newest.licence,
            "authors": "\n".join(citation.get("authors", [])),
            **{key: citation[key] for key in ("year", "doi", "url") if citation.get(key)},
        }
    return NewReleaseForm(dataset=dataset, initial=initial)


def _new_release_page(
    request: UserRequest, dataset: Dataset, form: NewReleaseForm, restoring: RestoreForm
) -> HttpResponse:
    context = {
        "dataset": dataset,
        "form": form,
        "restoring": restoring,
        "corrections": planned_corrections(dataset),
        "running": running_freeze(dataset),
        "open_gold": open_gold_of_dataset(dataset).words(),
        "own_hidden": own_hidden_versions(dataset),
        "without_image": documents_without_image(dataset),
    }
    refused = 413 if was_too_large(request) else 400
    status = refused if form.errors or restoring.errors else 200
    return render(request, "datasets/releases/new_release.html", context, status=status)


def _answer(request: UserRequest, dataset: Dataset, form: NewReleaseForm) -> HttpResponse | None:
    """Freezes a small release at once and queues a large one. None for a draft of the notes."""
    order, upload, is_small = form.order(), form.upload, is_quick(dataset, form.upload)
    if "draft" in request.POST:
        _draft(request, dataset, form, is_small=is_small)
        return None
    if not is_small:
        # The worker drafts the notes if they are empty.
        order = replace(order, notes=order.notes or None)
    made = freeze_or_queue(dataset=dataset, order=order, upload=upload, actor=request.user)
    if isinstance(made, Release):
        return _frozen(request, made)
    messages.info(request, f"Release {order.version} is being frozen.")
    return redirect(made)


def _draft(request: UserRequest, dataset: Dataset, form: NewReleaseForm, *, is_small: bool) -> None:
    """Writes drafted change notes into the form."""
    if not is_small:
        form.add_error(
            "notes",
            "Drafting takes minutes for this many documents. Leave the notes empty to draft them"
            " when the release is frozen.",
        )
        return
    with stored_upload(form.upload) as path:
        drafted = draft_notes(dataset=dataset, order=form.order(), path=path)
    if drafted:
        form.show_notes(drafted)
        messages.info(request, "Notes drafted. Check them before you freeze the release.")
    else:
        messages.info(request, "This is the first release, so there are no changes to describe.")


def _frozen(request: UserRequest, release: Release) -> HttpResponse:
    messages.success(request, f"Release {release.version} is frozen.")
    for remark in freeze_remarks(release):
        messages.info(request, remark)
    for warning in freeze_warnings(release):
        messages.warning(request, warning)
    return redirect(release)
