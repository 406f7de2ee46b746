"""Assigning documents: balanced, mixed and reproducible."""

import doctest
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.assignments import sharing as balance
from annotation.assignments.balancing import balanced_assignment, replacements


@st.composite
def tasks(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    documents = draw(st.integers(0, 60))
    annotators = draw(st.lists(st.integers(1, 99), min_size=1, max_size=9, unique=True))
    overlap = draw(st.integers(1, min(4, len(annotators))))
    return list(range(1000, 1000 + documents)), annotators, overlap


@given(tasks())
def test_assignment_is_complete_and_even(task: tuple[list[int], list[int], int]) -> None:
    documents, annotators, overlap = task
    assigned = balanced_assignment(documents, annotators, overlap)
    assert list(assigned) == documents
    assert all(len(set(team)) == overlap for team in assigned.values())
    loads = Counter(dict.fromkeys(annotators, 0))
    loads.update(annotator for team in assigned.values() for annotator in team)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert assigned == balanced_assignment(documents, annotators, overlap)


@given(tasks(), st.integers(0, 30))
def test_later_documents_keep_it_even(task: tuple[list[int], list[int], int], first: int) -> None:
    documents, annotators, overlap = task
    before = balanced_assignment(documents[:first], annotators, overlap)
    after = balanced_assignment(documents[first:], annotators, overlap, before)
    loads = Counter(dict.fromkeys(annotators, 0))
    for team in (before | after).values():
        loads.update(team)
    assert max(loads.values()) - min(loads.values()) <= 1


@given(tasks(), st.data())
def test_teams_of_any_size_keep_it_even(
    task: tuple[list[int], list[int], int], data: st.DataObject
) -> None:
    documents, annotators, _ = task
    size = st.integers(1, len(annotators))
    sizes = {document: data.draw(size) for document in documents}
    assigned = balanced_assignment(documents, annotators, sizes)
    assert {document: len(set(team)) for document, team in assigned.items()} == sizes
    loads = Counter(dict.fromkeys(annotators, 0))
    loads.update(annotator for team in assigned.values() for annotator in team)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert assigned == balanced_assignment(documents, annotators, sizes)


@given(tasks(), st.data())
def test_one_by_one_is_as_even_as_at_once(
    task: tuple[list[int], list[int], int], data: st.DataObject
) -> None:
    documents, annotators, overlap = task
    done: dict[int, tuple[int, ...]] = {}
    for document in data.draw(st.permutations(documents[:20])):
        done |= balanced_assignment([document], annotators, overlap, done)
        loads = Counter(dict.fromkeys(annotators, 0))
        for team in done.values():
            loads.update(team)
        assert max(loads.values()) - min(loads.values()) <= 1


@given(tasks(), st.data())
def test_team_in_part_is_completed_by_others(
    task: tuple[list[int], list[int], int], data: st.DataObject
) -> None:
    documents, annotators, overlap = task
    people = st.sets(st.sampled_from(annotators), max_size=overlap)
    existing = {document: tuple(sorted(data.draw(people))) for document in documents}
    joining = balanced_assignment(documents, annotators, overlap, existing)
    for document in documents:
        assert len({*existing[document], *joining[document]}) == overlap
        assert not set(existing[document]) & set(joining[document])


def test_barred_annotator_does_not_join() -> None:
    assigned = balanced_assignment([10, 11], [1, 2, 3], 2, barred={10: [1]})
    assert assigned == {10: (2, 3), 11: (1, 2)}
    with pytest.raises(ValueError, match="document 10 needs 2 annotators, but has only 1"):
        balanced_assignment([10], [1, 2], 2, barred={10: [1]})


def test_every_pair_meets() -> None:
    assigned = balanced_assignment(list(range(12)), [1, 2, 3, 4], 2)
    meetings = Counter(tuple(sorted(team)) for team in assigned.values())
    assert meetings == dict.fromkeys(combinations([1, 2, 3, 4], 2), 2)


def test_new_annotator_catches_up() -> None:
    before = balanced_assignment(list(range(6)), [1, 2], 2)
    after = balanced_assignment(list(range(6, 9)), [1, 2, 3], 2, before)
    assert all(3 in team for team in after.values())


@pytest.mark.parametrize(("annotators", "overlap"), [([1], 2), ([1, 1], 2), ([], 1), ([1], 0)])
def test_too_few_annotators_are_refused(annotators: list[int], overlap: int) -> None:
    with pytest.raises(ValueError, match="annotator"):
        balanced_assignment([10], annotators, overlap)


def test_replacement_is_never_on_the_document_already() -> None:
    existing = {10: (1, 2), 11: (1, 3), 12: (2, 3)}
    heirs = replacements(existing, [10, 11], [2, 3])
    assert heirs == {10: 3, 11: 2}


def test_replacement_without_anybody_left_is_refused() -> None:
    with pytest.raises(ValueError, match="document 10"):
        replacements({10: (1, 2)}, [10], [2])


def test_examples_hold() -> None:
    assert doctest.testmod(balance).failed == 0
