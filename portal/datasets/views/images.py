"""Page images: which there are, rendering those that are missing, and uploading one by hand."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_document, get_image
from portal.datasets.forms import ImageForm
from portal.datasets.rendering import thumbnail_response
from portal.datasets.selectors.documents import document_page
from portal.datasets.selectors.page_images import images_page
from portal.datasets.services.page_images import (
    ImageRefusedError,
    add_image,
    ensure_thumbnail,
    remove_rendered_images,
    start_rendering,
)
from portal.files.uploads import was_too_large


@organiser_required
def images(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    if request.method == "POST":
        again = request.POST.get("again") == "on"
        return redirect(start_rendering(dataset=dataset, again=again, actor=request.user))
    view = images_page(dataset, page=request.GET.get("page", "1"))
    return render(request, "datasets/images.html", {"view": view})


@organiser_required
@require_POST
def upload(request: UserRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    _ = request.FILES  # reading them tells whether there were too many bytes
    too_large = was_too_large(request)
    numbers = list(document.images.values_list("number", flat=True))
    form = ImageForm(request.POST, request.FILES, numbers=numbers, too_large=too_large)
    if form.is_valid():
        replaces = form.cleaned_data.get("replaces")
        try:
            add_image(
                document=document, picture=form.picture, replaces=replaces, actor=request.user
            )
        except ImageRefusedError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, f"Image {replaces} replaced." if replaces else "Image added.")
            return redirect(document)
    context = {"view": document_page(request.user, document), "may_manage": True, "upload": form}
    status = 413 if too_large else 400
    return render(request, "datasets/document.html", context, status=status)


@organiser_required
@require_POST
def remove_rendered(request: UserRequest, slug: str, name: str) -> HttpResponse:
    document = get_document(request.user, slug, name)
    try:
        count = remove_rendered_images(document=document, actor=request.user)
    except ImageRefusedError as error:
        messages.error(request, f"Nothing was removed: {error}.")
    else:
        messages.success(request, f"Rendered images removed: {count}.")
    return redirect(document)


def thumbnail(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    image = get_image(request.user, slug, name, number)
    try:
        return thumbnail_response(ensure_thumbnail(image))
    except (OSError, ValueError) as error:
        raise Http404("the image's file cannot be read") from error
