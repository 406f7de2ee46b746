"""A campaign's labels as a file: for Label Studio, as tagged pages, or as JSON Lines."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import Assignment, Campaign, CampaignDocument, CampaignImport
from annotation.pseudonyms import pseudonym
from portal.facts import LabelledBy, write_document_line, write_tags, write_task
from portal.facts import Span as TextSpan
from portal.files.archives import DRAIN_AT, ZipSink, ZipWriter

from .campaign_archive import campaign_archive
from .exported_labels import LabelledDocument, exported_documents, labelled_documents

Form = CampaignImport.Form
Layer = CampaignImport.Layer
# Form → how its files are called, and their media type.
FILES = {
    Form.LABEL_STUDIO: ("labelstudio.json", "application/json"),
    Form.TAGS: ("tags.zip", "application/zip"),
    Form.JSONL: ("jsonl", "application/x-ndjson"),
    Form.FULL: ("campaign.zip", "application/zip"),
}
# The forms in words, for people who choose one.
FORM_WORDS = [
    (Form.LABEL_STUDIO.value, "Label Studio JSON"),
    (Form.JSONL.value, "JSON Lines with offsets"),
    (Form.TAGS.value, "HTML with inline tags (ZIP)"),
    (Form.FULL.value, "The whole campaign (ZIP)"),
]


@dataclass(frozen=True)
class CampaignFile:
    """A file that is made while it is sent."""

    name: str
    media_type: str
    content: Iterator[bytes]


@dataclass(frozen=True)
class ExportState:
    """How many documents a file of each layer has now, of how many in the campaign."""

    documents: int
    settled: int
    gold: int
    facts: int


def export_state(campaign: Campaign) -> ExportState:
    gold = exported_documents(campaign, Layer.GOLD)
    return ExportState(
        documents=CampaignDocument.objects.filter(campaign=campaign).count(),
        settled=exported_documents(campaign, Layer.ANNOTATIONS).count(),
        gold=gold.count(),
        facts=gold.aggregate(facts=Count("gold_spans"))["facts"],
    )


def campaign_file(
    campaign: Campaign, form: str, layer: str, *, emails: bool = False
) -> CampaignFile:
    """The file of one Form. `layer` and `emails` say what is in it: a layer for all forms but the
    whole campaign, e-mail addresses for that one alone.
    """
    suffix, media_type = FILES[Form(form)]
    if form == Form.FULL:
        return CampaignFile(
            f"{campaign.slug}.{suffix}", media_type, campaign_archive(campaign, emails=emails)
        )
    documents = labelled_documents(campaign, layer)
    content = {
        Form.LABEL_STUDIO: _label_studio,
        Form.TAGS: _tagged_pages,
        Form.JSONL: _json_lines,
    }[Form(form)](campaign, documents)
    return CampaignFile(f"{campaign.slug}.{layer}.{suffix}", media_type, content)


def _label_studio(campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    people = annotator_numbers(campaign)
    separator = "[\n"
    for item in documents:
        document = item.document
        mine = [labels.annotator for labels in item.labels if labels.annotator is not None]
        data = {
            "name": document.name,
            "text_sha256": document.text_sha256,
            "annotators": {str(people[pk]): pseudonym(pk) for pk in mine},
        }
        labelled = [
            LabelledBy(
                labels.id,
                people[labels.annotator] if labels.annotator is not None else None,
                labels.spans,
                labels.seconds,
                is_gold=labels.annotator is None,
            )
            for labels in item.labels
        ]
        task = write_task(item.number, data, document.content.html, labelled)
        yield f"{separator}{json.dumps(task, ensure_ascii=False)}".encode()
        separator = ",\n"
    yield b"[]\n" if separator == "[\n" else b"\n]\n"


def annotator_numbers(campaign: Campaign) -> dict[int, int]:
    """A number from 1 for everybody with work in the campaign, in the order of their accounts."""
    work = Assignment.objects.filter(campaign_document__campaign=campaign)
    pks = work.order_by("annotator").values_list("annotator", flat=True).distinct()
    return {pk: number for number, pk in enumerate(pks, start=1)}


def _tagged_pages(_campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    """`gold/NAME.html`, or a folder for each annotator."""
    sink = ZipSink()
    writer = ZipWriter(sink)
    for item in documents:
        for labels in item.labels:
            folder = "gold" if labels.annotator is None else pseudonym(labels.annotator)
            spans = [TextSpan(span.start, span.end, span.label) for span in labels.spans]
            page = write_tags(item.document.content.html, spans)
            writer.add(f"{folder}/{item.document.name}.html", page.encode())
            yield from sink.drain(DRAIN_AT)
    writer.close()
    yield from sink.drain(0)


def _json_lines(_campaign: Campaign, documents: Iterable[LabelledDocument]) -> Iterator[bytes]:
    for item in documents:
        for labels in item.labels:
            line = write_document_line(
                item.document.name,
                item.document.text_sha256,
                labels.spans,
                "" if labels.annotator is None else pseudonym(labels.annotator),
            )
            yield f"{line}\n".encode()
