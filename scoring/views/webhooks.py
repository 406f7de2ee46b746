"""The addresses of one's own programs that are told when a grading ends."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest
from scoring.forms.submissions import WebhookForm
from scoring.models import Webhook
from scoring.selectors.webhooks import webhook_lines
from scoring.services.notices import SIGNATURE, WebhookRefused, add_webhook, remove_webhook


@login_required
def webhooks(request: UserRequest) -> HttpResponse:
    """The list, and the form for another one. The secret is shown with each, to its owner alone."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            add_webhook(user=request.user, url=form.cleaned_data["url"])
        except WebhookRefused as refusal:
            form.add_error("url", str(refusal))
        else:
            messages.success(request, "Added. It is told of every grading that ends from now on.")
            return redirect("scoring:webhooks")
    context = {"form": form, "lines": webhook_lines(request.user), "signature": SIGNATURE}
    status = 400 if form.errors else 200
    return render(request, "scoring/webhooks.html", context, status=status)


@login_required
@require_POST
def remove(request: UserRequest, pk: int) -> HttpResponse:
    webhook = get_object_or_404(Webhook.objects.of(request.user), pk=pk)
    remove_webhook(webhook=webhook, actor=request.user)
    messages.success(request, "Taken away. It is told nothing more.")
    return redirect("scoring:webhooks")
