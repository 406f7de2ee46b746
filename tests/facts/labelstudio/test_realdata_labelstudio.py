"""Real filings through Label Studio and back, and onto pages that were changed meanwhile."""

import json

from portal.facts import (
    LABEL_SETS,
    FactSpan,
    LabelledBy,
    Page,
    SourcePage,
    Task,
    canonicalise,
    decode_html,
    place_regions,
    read_tags,
    read_tasks,
    read_value,
    write_task,
)
from tests.many import each_part, part_of
from tests.shared import REALDATA, needs_realdata

LABELS = LABEL_SETS["v1"]
FACTS = {"some": 1023, "rest": 3197}


def _task(html: str, facts: list[FactSpan]) -> Task:
    written = json.dumps([write_task(1, {}, html, [LabelledBy(1, 1, facts)])])
    (task,) = read_tasks(json.loads(written))
    assert isinstance(task, Task)
    return task


@needs_realdata
@each_part
def test_every_fact_comes_back_also_where_the_page_has_another_tree_and_a_new_beginning(
    part: str,
) -> None:
    count = 0
    for path in part_of(sorted((REALDATA / "gold").iterdir()), part):
        page = read_tags(decode_html(path.read_bytes()), LABELS)
        html, text = page.canonical.html, page.canonical.text
        facts = []
        for span in page.spans:
            quote = text[span.start : span.end]
            place = span.label, span.start, span.end, quote
            facts.append(FactSpan(f"k{span.start}", *place, *read_value(quote, span.label)))
        count += len(facts)
        task = _task(html, facts)
        regions = task.annotations[0].regions
        same = place_regions(Page(html), regions, LABELS, SourcePage(task.html))
        assert same.spans == facts, path.name
        assert same.moved == same.unplaced == []

        later = canonicalise(f"<p>Added later: 1,234 and 2024</p><div>{html}</div>")
        shift = later.text.index(text)
        found = place_regions(Page(later.html), regions, LABELS, SourcePage(task.html))
        assert found.unplaced == []
        assert [span.start - shift for span in found.spans] == [fact.start for fact in facts]
    assert count == FACTS[part]
