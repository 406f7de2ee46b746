"""Pages of the domain review: all rounds, one round, and one drawn fact."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect

from annotation.access import (
    CampaignAccess,
    item_for,
    item_to_decide,
    review_to_open,
    reviewed_campaign,
    round_for,
)
from annotation.api_base import (
    campaign_page,
    choose,
    form_view,
    named,
    page_files,
    page_view,
    post_view,
    posted,
)
from annotation.errors import InvalidSpans, Refused
from annotation.models import GoldSpan, ReviewItem, ReviewRound
from annotation.spans import MAX_VALUE, SIGN_CHOICES
from portal.accounts.access import UserRequest

from . import selectors
from .services import MAX_REASON, MAX_SEED, AlreadyReviewed, decide_item, open_round_now

Verdict = ReviewItem.Verdict


class OpenRoundForm(forms.Form):
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Leave empty for a random seed. The same seed draws the same facts.",
    )


class SendBackForm(forms.Form):
    reason = forms.CharField(
        max_length=MAX_REASON,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Describe the problem for the adjudicators.",
    )


class CorrectionForm(forms.Form):
    """The correction of a fact. The button `remove` removes the fact instead."""

    label = forms.ChoiceField()
    start = forms.IntegerField(min_value=0)
    end = forms.IntegerField(min_value=1)
    value = forms.CharField(
        required=False, max_length=MAX_VALUE, help_text="Leave empty to derive it from the text."
    )
    sign = forms.ChoiceField(required=False)
    reason = forms.CharField(
        max_length=MAX_REASON,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown to annotators with the gold.",
    )

    def __init__(
        self, *args: Any, fact: ReviewItem | GoldSpan, labels: list[str], **kwargs: Any
    ) -> None:
        fields = ("label", "start", "end", "value", "sign")
        initial = {name: getattr(fact, name) for name in fields}
        super().__init__(*args, **kwargs)
        self.initial = initial
        choose(self, "label", named(labels))
        choose(self, "sign", [("", "Derive from text"), *SIGN_CHOICES])
        if self.is_bound and "remove" in self.data:
            for name in fields:
                self.fields[name].required = False

    @property
    def correction(self) -> dict[str, Any] | None:
        """The argument of `decide_item`; None removes the fact."""
        if "remove" in self.data:
            return None
        row = self.cleaned_data
        place = {name: row[name] for name in ("label", "start", "end")}
        return place | {"value": row["value"] or None, "sign": row["sign"] or None}


PER_PAGE = 100


@page_view
def rounds(request: UserRequest, slug: str) -> HttpResponse:
    access = reviewed_campaign(request.user, slug)
    return _rounds(request, access, OpenRoundForm())


@post_view
def open_now(request: UserRequest, slug: str) -> HttpResponse:
    access = review_to_open(request.user, slug)
    form = OpenRoundForm(request.POST)
    if not form.is_valid():
        return _rounds(request, access, form)
    try:
        review_round = open_round_now(
            campaign=access.campaign, actor=request.user, seed=form.cleaned_data["seed"]
        )
    except Refused as refusal:
        messages.warning(request, refusal.message)
        return redirect("annotation:review", slug)
    messages.success(request, f"Review {review_round.number} is open.")
    return redirect(review_round)


def _rounds(request: UserRequest, access: CampaignAccess, form: OpenRoundForm) -> HttpResponse:
    context = {"review": selectors.review_of(access.campaign), "form": form}
    return campaign_page(request, access, "review", "review/rounds.html", context)


@page_view
def round_(request: UserRequest, slug: str, number: int) -> HttpResponse:
    access, review_round = round_for(request.user, slug, number=number)
    (counted,) = selectors.with_verdicts(ReviewRound.objects.filter(pk=review_round.pk))
    items = selectors.round_items(review_round)
    context = {
        "round": counted,
        "page": Paginator(items, PER_PAGE).get_page(request.GET.get("page")),
        "feedback": items.filter(verdict__in=[Verdict.CORRECTED, Verdict.SENT_BACK]),
        "next_position": items.filter(verdict=Verdict.PENDING)
        .values_list("position", flat=True)
        .first(),
    }
    return campaign_page(
        request, access, "review", "review/round.html", context, name=f"Review {number}", below=True
    )


@form_view
def item(request: UserRequest, slug: str, number: int, position: int) -> HttpResponse:
    """One fact. The field `verdict` identifies the submitted form."""
    find = item_to_decide if request.method == "POST" else item_for
    access, review_item = find(request.user, slug, number=number, position=position)
    campaign = access.campaign
    view = selectors.item_view(campaign, review_item, request.user, may_decide=access.is_reviewer)
    verdict = request.POST.get("verdict", "")
    correct, back = _forms(request, verdict, view, campaign.labels)
    form = next((sent for sent in (correct, back) if sent.is_bound), None)
    if verdict == Verdict.ACCEPTED or (form is not None and form.is_valid()):
        decided = _decide(request, review_item, verdict, form)
        if decided is not None:
            return decided
    context = _item_context(access, view) | {"correct": correct, "back": back}
    name = f"Fact {position}"
    return campaign_page(
        request, access, "review", "review/item.html", context, name=name, below=True
    )


def _forms(
    request: UserRequest, verdict: str, view: selectors.ItemView, labels: list[str]
) -> tuple[CorrectionForm, SendBackForm]:
    """Both forms; the submitted one is bound."""
    sent = posted(request)
    correct = CorrectionForm(
        sent if verdict == Verdict.CORRECTED else None,
        prefix="correct",
        fact=view.gold_now[0] if view.gold_now else view.item,
        labels=labels,
    )
    return correct, SendBackForm(sent if verdict == Verdict.SENT_BACK else None, prefix="back")


def _decide(
    request: UserRequest,
    item: ReviewItem,
    verdict: str,
    form: CorrectionForm | SendBackForm | None,
) -> HttpResponse | None:
    """The response to a verdict, or None if it failed and the form has errors."""
    try:
        decide_item(
            item=item,
            verdict=verdict,
            correction=form.correction if isinstance(form, CorrectionForm) else None,
            reason=form.cleaned_data["reason"] if form else "",
            actor=request.user,
        )
    except InvalidSpans as invalid:
        assert form is not None
        form.add_error(None, [error["message"] for error in invalid.errors])
        return None
    except AlreadyReviewed as refusal:
        messages.warning(request, refusal.message)
    except Refused as refusal:
        if form is not None and refusal.code == "unchanged":
            form.add_error(None, refusal.message)
            return None
        messages.error(request, refusal.message)
        return redirect(_item_url(item.round, item.position))
    following = selectors.next_pending(item)
    if following is None:
        messages.success(request, f"Review {item.round.number} is complete.")
        return redirect(item.round)
    return redirect(_item_url(item.round, following))


def _item_url(review_round: ReviewRound, position: int) -> str:
    return f"{review_round.get_absolute_url()}{position}/"


def _item_context(access: CampaignAccess, view: selectors.ItemView) -> dict[str, Any]:
    document = view.item.campaign_document.document
    return {
        "view": view,
        "images": document.images.all() if view.is_shown else [],
        "page_data": selectors.item_page_data(access.campaign, view) if view.is_shown else None,
    }


item_html, item_image = page_files(
    lambda user, **url: item_for(user, **url)[1].campaign_document.document
)
