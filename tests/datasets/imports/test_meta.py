"""Reading meta.jsonl and reporting its faults."""

import json
from typing import Any

import pytest

from portal.datasets.imports.items import LINE_LIMIT, DocumentMeta, MetaError, MetaIndex


def read(line: dict[str, Any] | bytes, name: str = "a") -> DocumentMeta | None:
    data = line if isinstance(line, bytes) else json.dumps(line).encode()
    return MetaIndex(data, {name}).of(name)


def refusals(data: bytes, *known: str) -> list[tuple[str, str]]:
    return [(refusal.name, refusal.code) for refusal in MetaIndex(data, set(known)).refusals]


def test_meta_reads_known_fields_and_keeps_the_rest() -> None:
    meta = read(
        {
            "id": "a",
            "doc_type": "tax_form",
            "company": " Acme ",
            "form_type": "990",
            "fiscal_year": "2023",
            "licence": "public",
            "source_url": "https://example.org/a",
            "page_index": 3,
            "image": {"dpi": 144},
        }
    )
    assert meta == DocumentMeta(
        doc_type="tax_form",
        company="Acme",
        form_type="990",
        fiscal_year=2023,
        licence="public",
        source_url="https://example.org/a",
        metadata={"page_index": 3, "image": {"dpi": 144}},
    )


def test_meta_fields_that_are_null_or_empty_are_left_blank() -> None:
    meta = read({"id": "a", "company": None, "fiscal_year": None, "doc_type": "", "source_url": ""})
    assert meta == DocumentMeta(metadata={})


def test_meta_of_a_page_that_is_not_described_is_none() -> None:
    assert MetaIndex(b'{"id": "b"}', {"a", "b"}).of("a") is None


def test_meta_tolerates_blank_lines_crlf_and_a_byte_order_mark() -> None:
    index = MetaIndex(b'\xef\xbb\xbf{"id": "a"}\r\n\r\n{"id": "b"}\r\n', {"a", "b"})
    assert index.refusals == []
    assert index.of("b") is not None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"doc_type": "novel"}, "doc_type: must be one of financial_statement"),
        ({"doc_type": ["tax_form"]}, "doc_type: "),
        ({"company": 7}, "company: must be a string, not 7"),
        ({"company": "x" * 201}, "company: must have at most 200 characters, not 201"),
        ({"form_type": {"a": 1}}, "form_type: must be a string"),
        ({"fiscal_year": "last"}, "fiscal_year: must be a year such as 2024, not 'last'"),
        ({"fiscal_year": 99999}, "fiscal_year: must be a year"),
        ({"fiscal_year": True}, "fiscal_year: must be a year"),
        ({"fiscal_year": 2024.5}, "fiscal_year: must be a year"),
        ({"source_url": "javascript:alert(1)"}, "source_url: must be a URL"),
        ({"source_url": "https://"}, "source_url: must be a URL"),
        ({"source_url": "http://[bad"}, "source_url: "),
        ({"licence": "x" * 301}, "licence: must have at most 300"),
    ],
)
def test_meta_fault_names_file_line_and_field(fields: dict[str, Any], message: str) -> None:
    data = b"\n" + json.dumps({"id": "a"} | fields).encode()
    with pytest.raises(MetaError) as caught:
        read(data)
    assert str(caught.value).startswith(f"meta.jsonl:2: {message}")


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1]",
        b'"a"',
        b"{}",
        b'{"id": 7}',
        b'{"id": ""}',
        b'{"id": "../a"}',
        b'{"id": "caf\xe9"}',
        b'{"id": "a", "x": NaN}',
        b'{"id": "a", "x": 1e999}',
        b'{"id": "a", "x": "\\u0000"}',
        b'{"id": "a", "x": ["\\ud800"]}',
        b'{"id": "a", "\\u0000": 1}',
        b'{"id": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"id": "a", "x": "' + b"y" * LINE_LIMIT + b'"}',
        b'{"id": "a", "x": ' + b"9" * 5000 + b"}",
    ],
)
def test_meta_line_that_is_no_description_is_refused_by_its_number(line: bytes) -> None:
    assert refusals(b'{"id": "b"}\n' + line + b"\n", "a", "b") == [("meta.jsonl:2", "bad_meta")]


def test_meta_of_an_unknown_page_is_refused() -> None:
    assert refusals(b'{"id": "a"}\n{"id": "ghost"}', "a") == [("meta.jsonl:2", "unknown_id")]


def test_meta_given_twice_counts_once() -> None:
    data = b'{"id": "a", "company": "First"}\n{"id": "a", "company": "Second"}'
    index = MetaIndex(data, {"a"})
    assert [(refusal.name, refusal.code) for refusal in index.refusals] == [
        ("meta.jsonl:2", "doubled_meta")
    ]
    first = index.of("a")
    assert first is not None
    assert first.company == "First"


def test_array_is_one_refusal() -> None:
    assert refusals(b'[\n{"id": "a"},\n{"id": "b"}\n]', "a", "b") == [("meta.jsonl:1", "not_lines")]
