"""Sorting a source into pages, images and metadata."""

import pytest

from portal.datasets.imports.opening import Layout, read_layout
from portal.datasets.models.documents import document_name
from portal.files.archives import ArchiveFault, Member


def layout(*names: str) -> Layout:
    return read_layout([Member(name, 1) for name in names])


def test_layout_pairs_pages_with_their_images() -> None:
    found = layout("pages/b.html", "pages/a.htm", "images/b.png", "meta.jsonl")
    assert [(page.name, page.file.path) for page in found.pages] == [
        ("a", "pages/a.htm"),
        ("b", "pages/b.html"),
    ]
    assert found.pages[0].image is None
    assert found.pages[1].image is not None
    assert found.pages[1].image.path == "images/b.png"
    assert found.meta is not None
    assert found.page_files == 2
    assert not found.refusals
    assert not found.ignored


def test_layout_one_folder_deeper_is_found() -> None:
    found = layout("set/pages/a.html", "set/images/a.jpg", "set/meta.jsonl", "set/README.md")
    assert found.pages[0].file.path == "set/pages/a.html"
    assert found.pages[0].file.shown == "pages/a.html"
    assert found.pages[0].image is not None
    assert found.meta is not None
    assert found.ignored == {"README.md": 1}


def test_layout_at_the_top_wins_over_a_deeper_one() -> None:
    found = layout("pages/a.html", "old/pages/a.html")
    assert [page.file.path for page in found.pages] == ["pages/a.html"]
    assert found.ignored == {"old/": 1}


def test_layout_counts_what_is_no_part_of_it() -> None:
    found = layout(
        "pages/a.html",
        "pages/deeper/b.html",
        "pages/.hidden.html",
        "gold/a.html",
        "gold/b.html",
        "gold.jsonl",
    )
    assert [page.name for page in found.pages] == ["a"]
    assert found.ignored == {"gold.jsonl": 1, "gold/": 2, "pages/": 2}


def test_layout_sums_up_what_is_ignored_in_very_many_folders() -> None:
    found = layout("pages/a.html", *(f"x{n}/f" for n in range(50)), "big/1", "big/2")
    assert found.ignored["big/"] == 2
    assert found.ignored["others"] == 31
    assert sum(found.ignored.values()) == 52


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (["pages/a.html", "pages/b.pdf"], ("pages/b.pdf", "not_html")),
        (["pages/a.html", "images/a.gif"], ("images/a.gif", "image_format")),
        (["pages/a.html", "images/b.png"], ("images/b.png", "image_without_page")),
        (["pages/a.htm", "pages/a.html"], ("pages/a.html", "name_taken")),
        (["pages/a.html", "images/a.jpg", "images/a.png"], ("images/a.png", "name_taken")),
        (["pages/a.html", "pages/b?.html"], ("pages/b?.html", "bad_name")),
        (["pages/a.html", "pages/b .html"], ("pages/b .html", "bad_name")),
        (
            ["pages/a.html", "pages/" + "b" * 161 + ".html"],
            ("pages/" + "b" * 161 + ".html", "bad_name"),
        ),
    ],
)
def test_layout_refuses_by_name(names: list[str], refused: tuple[str, str]) -> None:
    found = layout(*names)
    assert [(refusal.name, refusal.code) for refusal in found.refusals] == [refused]
    assert [page.name for page in found.pages] == ["a"]


def test_layout_makes_odd_file_names_printable() -> None:
    found = layout("pages/a.html", "pages/caf\udce9.html")
    assert [refusal.name for refusal in found.refusals] == [r"pages/caf\udce9.html"]


@pytest.mark.parametrize(
    "names",
    [[], ["meta.jsonl"], ["a.html"], ["pages.html"], ["x/y/pages/a.html"], ["images/a.png"]],
)
def test_layout_without_pages_is_refused(names: list[str]) -> None:
    with pytest.raises(ArchiveFault) as caught:
        layout(*names)
    assert caught.value.code == "no_pages"


def test_layout_in_several_folders_is_refused() -> None:
    with pytest.raises(ArchiveFault) as caught:
        layout("a/pages/x.html", "b/pages/x.html")
    assert caught.value.code == "several_roots"
    assert "a/, b/" in str(caught.value)


def test_names_spelled_with_combining_marks_are_one() -> None:
    assert document_name("e\u0301tat") == document_name("\u00e9tat") == "\u00e9tat"
