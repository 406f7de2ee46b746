"""Certificates for FCMBench: questions of all seven tasks, some under simulated captures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from rapidfuzz import process

from sample.generator.content import content
from sample.generator.figures import Draw
from sample.generator.markup import plain, table, td, tr
from scoring.benchmarks.fcmbench.figures import NORMAL

from .base import Line, Picture, Question, Reading, SampleSet, document, json_lines
from .simulated import misread

WIDTH = 480
LANGUAGES = ("en", "zh")
NOTICE = {"en": "Specimen – fictional certificate", "zh": "样本 – 虚构证件"}

Certificate = Mapping[str, Any]


def certificate_set() -> SampleSet:
    certificates = content("certificates")["document"]
    questions = [question for certificate in certificates for question in _questions(certificate)]
    questions += [question for language in LANGUAGES for question in _consistency(language)]
    pictures = {picture.path: picture for question in questions for picture in question.pictures}
    return SampleSet(
        benchmark="fcmbench",
        pictures=tuple(pictures.values()),
        questions=questions,
        source={"questions.jsonl": json_lines([_asked(question) for question in questions])},
        read=_read,
        how="Rules find the values after printed labels and the document type in the title. They "
        "never report an image defect, and do not compare or judge documents.",
        simulate=_simulated,
    )


def _asked(question: Question) -> Line:
    """A line as the benchmark publishes it."""
    images = [picture.path.removeprefix("source/") for picture in question.pictures]
    return {**question.gold, "question": question.asked["prompt"], "images": images}


def _questions(certificate: Certificate) -> Iterator[Question]:
    """The questions about one certificate, in its original and in its simulated capture."""
    clean = _picture(certificate)
    words = content("certificates")["questions"][certificate["language"]]
    language = certificate["language"]
    yield _question(
        certificate,
        "DTR",
        "doc_cla_001",
        {words["category"]: certificate["title"]},
        words["kind"].format(kinds=", ".join(_titles(language))),
    )
    yield _key_information(certificate, clean, NORMAL)
    if capture := certificate.get("capture"):
        name, told = content("certificates")["conditions"][capture]
        seen = _picture(certificate, capture)
        yield _key_information(certificate, seen, name)
        yield _quality(certificate, seen, name, told if language == "zh" else name)
    else:
        yield _quality(certificate, clean, NORMAL, words["none"])
    if terms := certificate.get("sum"):
        yield _calculation(certificate, terms)
    for number, (date, is_valid) in enumerate(certificate.get("valid", ()), start=1):
        answer = {words["validity"]: words["yes" if is_valid else "no"]}
        prompt = words["valid"].format(date=date)
        yield _question(certificate, "VC", f"key_ver_00{number}", answer, prompt)
    if "plausible" in certificate:
        answer = {words["plausibility"]: words["yes" if certificate["plausible"] else "no"]}
        yield _question(certificate, "RR", "rea_chk_001", answer, words["plausible"].format())


def _key_information(certificate: Certificate, picture: Picture, condition: str) -> Question:
    rows = dict(certificate["rows"])
    words = content("certificates")["questions"][certificate["language"]]
    return _question(
        certificate,
        "KIE",
        "inf_ext_001",
        {label: rows[label] for label in certificate["ask"]},
        words["fields"].format(labels=", ".join(certificate["ask"])),
        picture=picture,
        condition=condition,
    )


def _quality(certificate: Certificate, picture: Picture, condition: str, defect: str) -> Question:
    language = certificate["language"]
    words = content("certificates")["questions"][language]
    place = LANGUAGES.index(language)
    kinds = ", ".join(names[place] for names in content("certificates")["conditions"].values())
    return _question(
        certificate,
        "IQE",
        "qua_eva_001",
        {words["defect"]: defect},
        words["quality"].format(kinds=kinds),
        picture=picture,
        condition=condition,
    )


def _calculation(certificate: Certificate, terms: list[list[str]]) -> Question:
    rows = dict(certificate["rows"])
    total = sum(
        (Decimal(f"{sign}{rows[label].replace(',', '')}") for sign, label in terms), Decimal(0)
    )
    labels = " ".join(f"{sign} {label}" for sign, label in terms).removeprefix("+ ")
    prompt = content("certificates")["questions"][certificate["language"]]["sum"]
    subtask = "num_cal_001" if certificate["id"].endswith("payslip") else "num_cal_002"
    return _question(certificate, "NC", subtask, float(total), prompt.format(labels=labels))


def _consistency(language: str) -> Iterator[Question]:
    """Whether the certificate of employment and the payslip of each person agree."""
    words = content("certificates")["questions"][language]
    documents = content("certificates")["document"]
    papers = {paper["id"]: paper for paper in documents if paper["language"] == language}
    for first in (paper for name, paper in papers.items() if name.endswith("-employment")):
        second = papers[first["id"].replace("-employment", "-payslip")]
        same = [value == other for value, other in zip(first["rows"], second["rows"], strict=False)]
        answer = {
            words["person"]: words["yes" if same[0] else "no"],
            words["employer"]: words["yes" if same[1] else "no"],
        }
        yield _question(
            first,
            "CC",
            "con_chk_001",
            answer,
            words["consistent"].format(),
            others=(_picture(second),),
        )


def _question(
    certificate: Certificate,
    task: str,
    subtask: str,
    answer: Any,
    prompt: str,
    *,
    picture: Picture | None = None,
    condition: str = NORMAL,
    others: tuple[Picture, ...] = (),
) -> Question:
    seen = picture or _picture(certificate)
    prefix = "en." if certificate["language"] == "en" else ""
    suffix = f"-{seen.capture}" if seen.capture else ""
    gold = {
        "id": f"{certificate['id']}{suffix}-{subtask}",
        "task": task,
        "subtask": prefix + subtask,
        "robustness": condition,
        "response": _response(answer),
    }
    asked = {"prompt": prompt, "labels": certificate["ask"], "language": certificate["language"]}
    return Question(gold, certificate["split"], (seen, *others), asked)


def _response(answer: Any) -> str:
    return json.dumps({"answer": answer}, ensure_ascii=False)


def _titles(language: str) -> list[str]:
    papers = content("certificates")["document"]
    return list(dict.fromkeys(paper["title"] for paper in papers if paper["language"] == language))


def _picture(certificate: Certificate, capture: str = "") -> Picture:
    """A framed card: its title, its rows, and the notice that nothing on it is real."""
    title = plain(certificate["title"])
    rows = [tr([td(f"{plain(label)}: {plain(value)}")]) for label, value in certificate["rows"]]
    notice = NOTICE[certificate["language"]]
    bold = "margin:0 0 14px;text-align:center;font-size:16pt;font-weight:bold"
    body = (
        f'<p style="{bold}">{title}</p>\n'
        f"{table(rows, 'width:100%;font-size:12pt;line-height:1.7')}"
        f'<p style="margin:14px 0 0;font-size:8pt;text-align:right">{notice}</p>\n'
    )
    page = document(body, width=WIDTH, style="border:3px double #404040;box-sizing:content-box;")
    end = f"-{capture}.jpg" if capture else ".png"
    return Picture(f"source/images/{certificate['id']}{end}", page, WIDTH, capture)


class Found(NamedTuple):
    title: str
    values: dict[str, str]


def read_certificate(text: str, labels: Sequence[str], titles: Sequence[str]) -> Found:
    """Find the nearest of the titles, and the values after the labels on their lines.

    >>> read_certificate("Paysl1p\\nName: Ada Example", ["Name", "Month"], ["Payslip", "Receipt"])
    Found(title='Payslip', values={'Name': 'Ada Example'})
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    values = {}
    for line in lines:
        label, colon, value = line.partition(":")
        if colon and label.strip() in labels and value.strip():
            values[label.strip()] = value.strip()
    nearest = process.extractOne(lines[0], titles, score_cutoff=60) if lines else None
    return Found(nearest[0] if nearest else "", values)


def _read(question: Question, reading: Reading) -> Line:
    language = question.asked["language"]
    words = content("certificates")["questions"][language]
    certificate = read_certificate(reading.text, question.asked["labels"], _titles(language))
    answers = {
        "IQE": {words["defect"]: words["none"]},
        "DTR": {words["category"]: certificate.title},
        "KIE": certificate.values,
    }
    answer = answers.get(question.gold["task"], {})
    return {"id": question.gold["id"], "response": _response(answer)}


def _simulated(question: Question, errors: int, seed: str) -> Line:
    draw = Draw(f"{seed}/{question.gold['id']}")
    answer = misread(json.loads(question.gold["response"]), draw, errors)
    response = json.dumps(answer, ensure_ascii=False)
    return {"id": question.gold["id"], "response": response, "output_tokens": len(response) // 3}
