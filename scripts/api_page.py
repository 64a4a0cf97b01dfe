"""Generate the page of the Python API (docs/api.md) from the docstrings of `eosctl.services`."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import eosctl.services

EXAMPLE: Final = Path(__file__).resolve().parent.parent / "docs" / "examples" / "diagnose_files.py"
#: The output of the example, for the snapshot and folder of its test.
OUTPUT: Final = EXAMPLE.with_suffix(".txt")
MODULES: Final = (
    "diagnose",
    "diagnose_fleet",
    "watch_diagnosis",
    "lint_configuration",
    "change_configuration",
    "edit_configuration",
    "tool_output",
    "printed_components",
    "compare_configuration",
    "releases",
    "inspect_files",
    "mine_logs",
    "judge_logs",
    "count_exceptions",
    "follow_logs",
    "mine_data",
    "query_logs",
    "summarize_result",
    "demonstrate",
    "submit_job",
    "spark_job",
    "warm_up",
    "run_checklist",
    "checklist_answers",
    "answer_checklist",
    "metric_catalog",
    "read_metrics",
    "export_monitoring",
    "export_cluster",
    "plan_capacity",
    "observe_workload",
    "cluster_descriptions",
    "calibrate_capacity",
    "sandboxes",
    "serve_image",
    "real_kafka",
    "sandbox_access",
    "sandbox_faults",
    "sandbox_logs",
    "play_scenario",
    "simulate_faults",
    "run_proxy",
    "verify_deployment",
    "verify_order",
    "verify_application",
    "verification_findings",
    "verification_items",
    "run_canary",
    "lint_runbooks",
    "lint_mirrors",
    "profiles",
    "about",
    "run_runbook",
    "runbooks",
    "rehearse_runbooks",
    "run_history",
    "notify",
    "collect_evidence",
    "connection",
    "connect",
    "read_cluster",
    "answered",
    "transactions",
    "unlisted_ids",
    "missing_rights",
    "hanging",
    "blame",
    "change_transaction",
    "watch_transactions",
    "groups",
    "timeline",
    "snapshots",
    "argument_access",
    "plan_access",
    "locate_coordinator",
    "decode_logs",
    "decode_topics",
    "decode_entries",
    "decode_state_dir",
    "decode_live",
    "decode_input",
    "likely_decoder",
    "sources",
    "gate",
    "gate_options",
    "check_selection",
    "log_findings",
    "log_events",
    "log_categories",
    "log_engine",
    "log_places",
    "log_format",
    "explain",
    "explain_kind",
    "find_runbooks",
    "short_answers",
    "list_bugs",
    "reference",
    "callbacks",
    "event_loop",
    "own_fences",
    "protection",
    "stopwatch",
)
_SECTION: Final = re.compile(r"(Args|Attributes|Returns|Raises):\n")
_ITEM: Final = re.compile(r"^([\w.*]+): ", re.MULTILINE)


def render_api() -> str:
    """Return the page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "# Python API"
    yield ""
    yield _prose(inspect.getdoc(eosctl.services) or "")
    yield from ("", "## Example", "")
    yield f"`{EXAMPLE.relative_to(EXAMPLE.parents[2])}`: {_docstring(EXAMPLE)}"
    yield from ("", "```python", _code(EXAMPLE), "```", "")
    yield "Output for a cluster without its third broker, and a Streams application with a long commit interval:"
    yield from ("", "```text", OUTPUT.read_text("utf-8").rstrip(), "```")
    for name in MODULES:
        yield from _module(importlib.import_module(f"eosctl.services.{name}"))


def _module(module: ModuleType) -> Iterator[str]:
    yield from ("", f"## {module.__name__}", "", _prose(inspect.getdoc(module) or ""))
    own = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
    functions = [one for one in own if inspect.isfunction(one) and not one.__name__.startswith("_")]
    types = [one for one in own if inspect.isclass(one) and not one.__name__.startswith("_")]
    for function in functions:
        yield from ("", f"### {function.__name__}", "", *_signature(function), "")
        yield _prose(inspect.getdoc(function) or "")
    for kind in types:
        yield from ("", f"### {kind.__name__}", "", _prose(inspect.getdoc(kind) or ""))
        for base in kind.__bases__:
            if base.__module__.startswith("eosctl.model."):
                yield from ("", f"It has the fields of `{base.__name__}`, too.", "", _prose(inspect.getdoc(base) or ""))
        for name, member in vars(kind).items():
            if name.startswith("_") or not (isinstance(member, property) or inspect.isfunction(member)):
                continue
            mark = "()" if inspect.isfunction(member) else ""
            if summary := (inspect.getdoc(member) or "").partition("\n\n")[0]:
                yield from ("", f"`{name}{mark}`: {_prose(summary)}")


def _signature(function: Any) -> Iterator[str]:
    """Yield the signature as code; omit defaults that are objects."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        default = "" if parameter.default is inspect.Parameter.empty else f" = {_default(parameter.default)}"
        parameters.append(f"{parameter.name}: {parameter.annotation}{default}")
    answer = inspect.signature(function).return_annotation
    yield from ("```python", f"{function.__name__}({', '.join(parameters)}) -> {answer}", "```")


def _default(value: object) -> str:
    return repr(value) if value is None or isinstance(value, bool | int | str) or value == () else "..."


def _prose(text: str) -> str:
    """Convert a docstring to Markdown: sections become lists."""
    first, *rest = _SECTION.split(text)
    parts = [first.rstrip()]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        content = textwrap.dedent(body).strip()
        if title == "Returns":
            parts.append(f"Returns: {' '.join(content.split())}")
            continue
        items = re.sub(r"\n +", " ", content).splitlines()
        parts.append("\n".join([f"{title}:", "", *(_ITEM.sub(r"- `\1`: ", item) for item in items if item)]))
    return "\n\n".join(parts).replace("``", "`")


def _docstring(path: Path) -> str:
    return path.read_text("utf-8").split('"""')[1]


def _code(path: Path) -> str:
    return path.read_text("utf-8").split('"""', 2)[2].strip()
