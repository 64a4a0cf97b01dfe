"""A runbook as a picture: Mermaid text, and a page of HTML that needs no network."""

from __future__ import annotations

from html import escape
from typing import Final

from eosctl.model.runbook import Action, Confirm, Manual, Notify, Outcome, Runbook, Step
from eosctl.render.escaping import lines_text
from eosctl.render.runbooks.tree import Costs, edges, step_text

_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.4rem;margin-bottom:.2rem}ol,ul{list-style:none;padding-left:1.1rem;border-left:2px solid #d5dbe3}
li{margin:.45rem 0}.when{color:#5a6675;font:13px/1.5 ui-monospace,monospace}.step{border-radius:6px;padding:.3rem .6rem;
display:block;background:#eef2f7;overflow-wrap:anywhere}.action{background:#fde4e1}.confirm{background:#fff3cf}
.manual,.notify{background:#e9e4fb}.end{background:#dff3e4;font-weight:600;display:inline-block}.never{color:#9a2b1d}
@media(prefers-color-scheme:dark){body{background:#14181f;color:#e4e8ee}.step{background:#232a35}.action{background:#53231d}
.confirm{background:#4a3c12}.manual,.notify{background:#31285a}.end{background:#17402a}ol,ul{border-color:#3a4452}
.when{color:#9aa6b5}.never{color:#ff9d8d}}
"""


def render_mermaid(book: Runbook, costs: Costs) -> str:
    """Draw a runbook as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for step in book.steps:
        left, right = _shape(step)
        lines.append(f'  {step.id}{left}"{_quoted(step_text(step, costs))}"{right}')
    used: dict[str, None] = {}
    for step in book.steps:
        for when, goto in edges(book, step):
            target = f"end_{goto.replace('-', '_')}" if goto in set(Outcome) else goto
            if goto in set(Outcome):
                used[goto] = None
            lines.append(f'  {step.id} -->|"{_quoted(when)}"| {target}' if when else f"  {step.id} --> {target}")
    lines += [f'  end_{goto.replace("-", "_")}(["{goto}"])' for goto in used]
    return "\n".join(lines) + "\n"


def render_page_of(book: Runbook, costs: Costs) -> str:
    """Draw a runbook as a page: nested lists, one indent a decision."""
    never = "".join(f'<p class="never">Never: {escape(text)}</p>' for text in book.never)
    tree = _nested(book, costs, book.steps[0].id, "", set())
    return lines_text(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="generator" content="eosctl">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(book.id)}</title><style>{_STYLE}</style></head><body>\n<main>\n"
        f"<h1>{escape(book.title)}</h1><p>{escape(' '.join(book.about.split()))}</p>{never}\n"
        f"<ol>{tree}</ol>\n</main>\n</body></html>\n"
    )


def _nested(book: Runbook, costs: Costs, target: str, when: str, seen: set[str]) -> str:
    label = f'<span class="when">{escape(when)}</span>' if when else ""
    if target in set(Outcome):
        return f'<li>{label} <span class="step end">{escape(target)}</span></li>'
    if target in seen:
        return f'<li>{label} <a class="when" href="#{target}">to {escape(target)}</a></li>'
    seen.add(target)
    step = book.step(target)
    kind = type(step).__name__.lower()
    box = f'{label}<span class="step {kind}" id="{target}">{escape(step_text(step, costs))}</span>'
    ways = edges(book, step)
    if len(ways) == 1 and not ways[0][0]:
        return f"<li>{box}</li>\n{_nested(book, costs, ways[0][1], '', seen)}"
    inner = "".join(f"<li><ul>{_nested(book, costs, goto, way, seen)}</ul></li>" for way, goto in ways)
    return f"<li>{box}</li>\n{inner}"


def _shape(step: Step) -> tuple[str, str]:
    match step:
        case Action():
            return "[[", "]]"
        case Confirm():
            return "{{", "}}"
        case Manual() | Notify():
            return "[/", "/]"
        case _:
            return "[", "]"


def _quoted(text: str) -> str:
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
