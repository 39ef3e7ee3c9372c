"""Whatever a spec says is printed as text: in HTML, and in Markdown as a pull request renders it."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from planner.report import build, render_html, render_markdown
from planner.report.markdown import code_span, escape, fenced

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> \"' ]]> --> </details></style></title> "
    "[link](https://evil.example/(x)) ![image](http://evil.example/i.png) https://evil.example/?a=<b> www.evil.example "
    "@team/all a@evil.example #123 GH-9 | cell | `code` ``` ~~gone~~ *bold* __bold__ $math$ &lt; &#60; "
    "javascript:alert(1)\n\n# heading\n- item\n\r\n```\nfence\n```\n| a | b |\n\t\x1b[31mred\x00\u202e\u2028\ud800"
)


def hostile(value: Any) -> Any:
    """`value` with every string in it, however deep, replaced."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, tuple):
        return tuple(hostile(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{item.name: hostile(getattr(value, item.name)) for item in fields(value)})
    return value


class Tags(HTMLParser):
    """Counts of tags and the names of attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name == "href"}


def tags_of(text: str) -> Tags:
    parser = Tags()
    parser.feed(text)
    parser.close()
    return parser


def without_code(text: str) -> str:
    """Markdown without fenced blocks and code spans, read as CommonMark does: a run closes at an equal run."""
    text = re.sub(r"^(`{3,})[^\n`]*\n.*?^\1`*[ ]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    kept, position = [], 0
    for match in re.finditer(r"(?<![\\`])(`+)(?!`)", text):
        if match.start() < position:
            continue
        close = re.compile(rf"(?<!`){match.group()}(?!`)").search(text, match.end())
        if close:
            kept.append(text[position : match.start()])
            position = close.end()
    return "".join((*kept, text[position:]))


def test_every_string_of_the_model_stays_text_in_html(support_chat) -> None:  # type: ignore[no-untyped-def]
    model = build(*support_chat.arguments())
    plain, attacked = tags_of(render_html(model)), tags_of(render_html(hostile(model)))
    allowed = set(plain.tags) | {"small"}
    assert set(attacked.tags) <= allowed
    assert attacked.tags["style"] == 1 and attacked.tags["main"] == 1 and attacked.tags["title"] == 1
    assert attacked.tags["table"] == plain.tags["table"] and attacked.tags["tr"] == plain.tags["tr"]
    assert not any(name.startswith("on") for name in attacked.attributes)
    assert attacked.attributes <= plain.attributes | {"class"}
    assert all(link.startswith("#") for link in attacked.links)


def test_every_string_of_the_model_stays_text_in_markdown(support_chat) -> None:  # type: ignore[no-untyped-def]
    model = build(*support_chat.arguments())
    benign, attacked = render_markdown(model), render_markdown(hostile(model))
    prose = without_code(attacked)
    assert set(re.findall(r"<[^>\n]*>", prose)) <= {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"(?<!\\)\[", prose) and not re.search(r"(?<!\\)`", prose)
    assert not re.search(r"@\w", prose) and not re.search(r"#\d", prose.replace("&#8203;", " "))
    assert not re.search(r"https?:|www\.|javascript:", prose)
    assert re.findall(r"^#+ ", prose, re.MULTILINE) == re.findall(r"^#+ ", without_code(benign), re.MULTILINE)


def test_every_string_of_the_model_keeps_the_tables_whole(support_chat) -> None:  # type: ignore[no-untyped-def]
    attacked = render_markdown(hostile(build(*support_chat.arguments())))
    for block in re.findall(r"(?:^\|.*\n)+", re.sub(r"^(`{3,}).*?^\1$", "", attacked, flags=re.M | re.S), re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1


def test_free_text_of_the_input_stays_text(support_chat) -> None:  # type: ignore[no-untyped-def]
    plan = replace(support_chat.plan, name=HOSTILE, description=HOSTILE, owner=HOSTILE, assumptions=(HOSTILE,))
    findings = tuple(replace(finding, message=HOSTILE, hint=HOSTILE, path=HOSTILE) for finding in support_chat.findings)
    steps = tuple(
        replace(step, lever=replace(step.lever, name=HOSTILE, reason=HOSTILE, evidence=(HOSTILE,)), note=HOSTILE)
        for step in support_chat.result.steps
    )
    result = replace(support_chat.result, steps=steps, notes=(HOSTILE,))
    model = build(support_chat.document, plan, result, findings, support_chat.verdict, support_chat.analysis)
    attacked = tags_of(render_html(model))
    assert {"script", "img"} & set(attacked.tags) == set()
    assert render_html(model).encode("utf-8") and render_markdown(model).encode("utf-8")
    assert "<script" not in without_code(render_markdown(model))


def test_nothing_invisible_is_printed(support_chat) -> None:  # type: ignore[no-untyped-def]
    model = hostile(build(*support_chat.arguments()))
    for text in (render_html(model), render_markdown(model)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("time_to_first_token.p95", "time_to_first_token.p95"),
        ("31.2 ms (15.6 to 62.4, prior)", "31.2 ms (15.6 to 62.4, prior)"),
        ("a | b", "a \\| b"),
        ("a\n\n# b", "a # b"),
        ("# b", "\\# b"),
        ("- b", "\\- b"),
        ("-5 %", "-5 %"),
        ("1. b", "1\\. b"),
        ("1.5 ms", "1.5 ms"),
        ("<b> & c", "&lt;b&gt; &amp; c"),
        ("[a](b)", "\\[a\\](b)"),
        ("_a_ a_b", "\\_a\\_ a_b"),
        ("@team", "@&#8203;team"),
        ("fixes #12 and GH-3", "fixes #&#8203;12 and GH-&#8203;3"),
        ("see https://a.example/x_y.", "see `https://a.example/x_y`."),
        ("www.a.example", "www&#8203;.a.example"),
        ("mailto:a@b.c", "mailto&#8203;:a@&#8203;b.c"),
        ("`x`", "\\`x\\`"),
        ("C:\\x", "C:\\\\x"),
    ],
)
def test_markdown_escaping(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_code_cannot_be_left() -> None:
    assert code_span("a") == "`a`"
    assert code_span("a`b|c") == "``a`b\\|c``"
    assert code_span("`a`") == "`` `a` ``"
    assert fenced("a\n```\nb", "sh") == "````sh\na\n```\nb\n````"
