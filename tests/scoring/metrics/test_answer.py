"""The answer in a model's output: drafts, wrapping and hidden text are no part of it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.answer import FENCE, MARKS, REASONING, Form, read_answer
from scoring.metrics.hidden import COMMENTS, HIDDEN, TITLE, shown_html

TRACES = [
    "<think>{}</think>",
    "<THINK time='3s'>{}</Think>",
    "<thinking>{}</thinking>",
    "<reasoning>{}</reasoning>",
    "<thought>{}</thought>",
    "<reflection>{}</reflection>",
    "<scratchpad>{}</scratchpad>",
    "<thinking>{}</thinking>",
    "&lt;think&gt;{}&lt;/think&gt;",
    "&amp;lt;think&amp;gt;{}&#60;/think&#x3E;",
    "[THINK]{}[/THINK]",
    "◁think▷{}◁/think▷",
    "<|begin_of_thought|>{}<|end_of_thought|>",
    "<|START_THINKING|>{}<|END_THINKING|>",
    "<unused94>thought\n{}<unused95>",
    '<details type="reasoning" done="true">{}</details>',
    "<think>one <think>two</think>{}</think>",
    "<think>one <reflection>two</reflection> {}</think>",
    "<think>{}</thought>",
    "{}</think>",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "analysisThe page says {}assistantfinal",
]


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("form", ["html", "latex", "json", "text"])
def test_trace_is_no_part_of_the_answer(trace: str, form: Form) -> None:
    draft = '{"total": "1,200"}' if form == "json" else "Net sales 1,200"
    wanted = '{"total": "7,200"}' if form == "json" else "Net sales 7,200"
    text, changes = read_answer(f"{trace.format(draft)}\n\n{wanted}", form)
    assert text.strip() == wanted
    assert changes[0] == REASONING


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("form", ["html", "latex", "json", "text"])
def test_trace_without_an_answer_is_an_empty_answer(trace: str, form: Form) -> None:
    opening, draft = trace.partition("{}")[0], '{"total": "1,200"}'
    assert read_answer(trace.format(draft), form).text.strip() == ""
    if opening.count("<think>") < 2 and not opening.startswith("analysis"):
        assert read_answer(f"{opening}{draft}", form).text.strip() == "" or not opening


@pytest.mark.parametrize(
    "text",
    [
        "We think that net sales were 1,200.",
        "<p>Thinking about the <b>reasoning</b> of the board [think]</p>",
        "1 < 2 think > 3",
        "analysis of cash flows: 1,200",
        "<p>Thoughtful &lt;thinker&gt;</p>",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
def test_page_that_only_has_the_word_is_left_alone(text: str) -> None:
    assert read_answer(text, "html") == (text, ())


def test_valid_json_may_hold_any_text() -> None:
    text = '{"note": "<think>1</think> <!-- 2 -->", "total": 1}'
    assert read_answer(text, "json") == (text, ())


@pytest.mark.parametrize(
    ("text", "wanted", "names"),
    [
        ("<|begin_of_box|>7,200<|end_of_box|>", "7,200", (MARKS,)),
        ("<think>1</think><answer>7,200</answer>", "7,200", (REASONING, MARKS)),
        ("Here is the page:\n```markdown\n# Sales\n7,200\n```", "# Sales\n7,200", (FENCE,)),
        ("```\nSales ``` 7,200``` \n", "Sales ``` 7,200", (FENCE,)),
        # The text around the block is a part of the page, too.
        ("# Report\n```html\n<p>7,200</p>\n```", "# Report\n```html\n<p>7,200</p>\n```", ()),
        (f"{40 * 'Words. '}\n```md\n7\n```", f"{40 * 'Words. '}\n```md\n7\n```", ()),
    ],
)
def test_wrapping(text: str, wanted: str, names: tuple[str, ...]) -> None:
    assert read_answer(text, "html") == (wanted, names)


HIDING = [
    "<p hidden>{}</p>",
    "<p HIDDEN=''>{}</p>",
    "<div style='display: none'><p>{}</p></div>",
    "<div style='DISPLAY:NONE!important;display:block'>{}</div>",
    "<div style='dis\\70lay:none'>{}</div>",
    "<div style='display:/**/none'>{}</div>",
    "<div style='visibility:hidden'>{}</div>",
    "<div style='opacity:0.0'>{}</div>",
    "<div style='filter:opacity(0)'>{}</div>",
    "<div style='font-size:0'>{}</div>",
    "<div style='font-size:1px'><b style='font-size:1em'>{}</b></div>",
    "<div style='font:0/0 a'>{}</div>",
    "<div style='position:absolute;clip:rect(0 0 0 0)'>{}</div>",
    "<div style='clip-path: inset(50%)'>{}</div>",
    "<div style='position:absolute; left:-9999px'>{}</div>",
    "<div style='position:fixed; top:-100em'>{}</div>",
    "<div style='text-indent:-9999px'>{}</div>",
    "<div style='margin-left:-200em'>{}</div>",
    "<div style='transform:translateX(-9999px)'>{}</div>",
    "<div style='transform:scale(0)'>{}</div>",
    "<div style='height:0;overflow:hidden'>{}</div>",
    "<div style='max-height:0px;overflow-y:hidden'>{}</div>",
    "<div style='color:transparent'>{}</div>",
    "<div style='color:rgba(0,0,0,0)'>{}</div>",
    "<div style='color:#fff'>{}</div>",
    "<div style='background:#123456'><span style='color:rgb(18,52,86)'>{}</span></div>",
    "<font color=white>{}</font>",
    "<style>.a, .b {{display:none}}</style><p class='x b'>{}</p>",
    "<style>#n{{visibility:hidden}}</style><p id=n>{}</p>",
    "<style>aside{{font-size:0}}</style><aside>{}</aside>",
    "<template>{}</template>",
    "<noscript>{}</noscript>",
    "<script>{}</script>",
    "<details><summary></summary>{}</details>",
    "<dialog>{}</dialog>",
    "<p style='display:none'>{}<p>",
    "<table><tr style='display:none'><td>{}<tr><td></table>",
    "<span hidden><div></span>{}</div></span>",
    "<div><b style='display:none'></div>{}</b>",
    "<!-- {} -->",
    "<!-- <p>{}</p> --!>",
    "<title>{}</title>",
    "<p><title>{}</title>",
]


@pytest.mark.parametrize("hidden", HIDING)
def test_hidden_text_is_no_part_of_the_answer(hidden: str) -> None:
    page = f"<p>Sales 7,200</p>{hidden.format('Sales 1,200')}<p>in 2024</p>"
    text, changes = read_answer(page, "html")
    assert "1,200" not in text
    assert text.startswith("<p>Sales 7,200</p>")
    assert text.endswith("<p>in 2024</p>")
    assert len(changes) == 1
    assert changes[0] in {HIDDEN, COMMENTS, TITLE}


@pytest.mark.parametrize(
    "shown",
    [
        "<p style='visibility:hidden'><b style='visibility:visible'>{}</b></p>",
        "<p style='font-size:0'><b style='font-size:9pt'>{}</b></p>",
        "<p hidden style='display:block'>{}</p>",
        "<p style='padding-left:12px;text-indent:-12px'>{}</p>",
        "<td style='background-color:#036;color:#fff'>{}</td>",
        "<tr bgcolor='#000000'><td><font color='white'>{}</font></td></tr>",
        "<style>.h th {{background:#036}} .h {{color:white}}</style><b class=h>{}</b>",
        "<p style='white-space:nowrap;height:100%;opacity:1'>{}</p>",
        "<div style='position:absolute;left:120px;top:90px'>{}</div>",
        "<div style='height:1px'>{}</div>",
        "<div style='margin-left:-12px;letter-spacing:0'>{}</div>",
        "<p title='a hidden p'>{}</p>",
        "<details open>{}</details>",
        "<p style='transform: rotate(-90deg) translate(-100%, 100%) translateX(20pt)'>{}</p>",
        "<p style='display:none'>x</p>{}",
        "<p style='display:none'>x<table><tr><td>{}</table>",
    ],
)
def test_text_that_is_shown_stays(shown: str) -> None:
    assert "1,200" in read_answer(f"<!-- -->{shown.format('1,200')}", "html").text


_PIECES = st.sampled_from(
    "<p>|</p>|<b hidden>|</b>|<think>|</think>|[THINK]|<!--|-->|<div style='font-size:0'>|</div>|"
    "<table>|<tr hidden>|<td>|</table>|1,200|think|```|\n|<title>|</title>|<script>|<|>|{|}".split(
        "|"
    )
)
_OUTPUTS = st.lists(_PIECES | st.text(max_size=4), max_size=25).map("".join)


@given(_OUTPUTS, st.sampled_from(["html", "latex", "json", "text"]))
def test_any_output_has_an_answer_that_names_its_changes(text: str, form: Form) -> None:
    answer = read_answer(text, form)
    assert (answer.text == text) == (not answer.changes)


@given(_OUTPUTS)
def test_nothing_is_added_to_a_page(text: str) -> None:
    shown, _ = shown_html(text)
    characters = iter(text)
    assert all(character in characters for character in shown)


@given(_OUTPUTS, _OUTPUTS)
def test_what_is_in_a_trace_changes_nothing(draft: str, answer: str) -> None:
    draft = draft.replace("think", "").replace("THINK", "")
    alone = read_answer(f"<think></think>{answer}", "text").text
    assert read_answer(f"<think>{draft}</think>{answer}", "text").text == alone


@pytest.mark.parametrize(
    "unit",
    [
        "<think>",
        "</think>",
        "[THINK]",
        "<",
        "```",
        "```\n",
        "<!--",
        "<details ",
        '"\\',
        "{",
        "[",
        "&amp;",
    ],
)
def test_hostile_output_takes_linear_time(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    began = time.process_time()
    read_answer(text, "html")
    assert time.process_time() - began < 3
