"""Find functions, methods, and classes that only tests use.

Struct fields, enum members, and attributes of other libraries' objects are not searched. Commands, checks, and steps
are found by name and count as used. Everything else needs a reason.

    python -m scripts.dead_code
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from vulture import Vulture

from eosctl.command_line.lazy import Entry
from eosctl.commands.registry import COMMANDS
from eosctl.lab.rehearsals.steps.registry import STEPS as REHEARSAL_STEPS
from eosctl.lab.scenarios.steps.registry import STEPS

ROOT: Final = Path(__file__).resolve().parent.parent
SEARCHED: Final = ("eosctl", "spark_log_analytics", "scripts", "benchmarks")
KINDS: Final = frozenset({"function", "method", "class", "property", "import", "unreachable_code"})
#: Used by generated code or external tools, or separate programs.
NOT_REPORTED: Final = ("eosctl/wire/generated", "eosctl/wire/messages", "eosctl/demo/programs", "scripts/client_suites")
DECORATORS: Final = ["@check", "@pytest.fixture"]

_CALLED_BY: Final = {
    "asyncio": (
        *("connection_made", "get_buffer", "buffer_updated", "pause_writing", "resume_writing"),
        *("_run_once", "_timer_handle_cancelled", "_write_to_self"),
    ),
    "typer": ("format_help",),
    "urllib": ("redirect_request", "http_open", "https_open"),
    "Spark": (
        *("streamReader", "initialOffset", "latestOffset", "reportLatestOffset", "getDefaultReadLimit"),
        "prepareForTriggerAvailableNow",
    ),
    "Textual": (
        *("action_abort", "action_clear_filter", "action_describe", "action_dismiss_page", "action_explain"),
        *(
            "action_filter",
            "action_interrupt",
            "action_leave",
            "action_page",
            "action_read",
            "on_click",
            "on_input_changed",
        ),
        *("on_input_submitted", "on_mount", "on_resize", "on_unmount", "render_line"),
    ),
    "pygls": ("hover",),
    "pytest": ("pytest_configure", "pytest_runtest_protocol"),
    "Python": ("__getattr__",),
    "users of eosctl.testing": ("client_properties",),
    "users of the Spark notebooks in docs/logs": ("new_templates", "hanging_suspects"),
}
_FOR_TESTS: Final = {
    "tests drive or measure with it what they cannot reach otherwise": (
        *("stop_listening", "decode_history", "packed_bytes", "queue_size", "read_components"),
    ),
}
#: The reasons for names without a use.
ALLOWED: Final = {
    name: reason
    for reasons in ({f"called by {who}": names for who, names in _CALLED_BY.items()}, _FOR_TESTS)
    for reason, names in reasons.items()
    for name in names
}


def command_functions(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the names of the functions of commands, including those of groups."""
    for entry in entries:
        module, _, attribute = entry.place.partition(":")
        if attribute == "COMMANDS":
            yield from command_functions(import_module(f"eosctl.commands.{module}").COMMANDS)
        yield attribute
        yield entry.check_word.rpartition(":")[2]


def unused() -> dict[str, str]:
    """Return the unused definitions by name, with their places."""
    search = Vulture(ignore_decorators=DECORATORS)
    search.scavenge([str(ROOT / folder) for folder in SEARCHED])
    named = {*command_functions(COMMANDS), *REHEARSAL_STEPS, *STEPS}
    found = {}
    for item in search.get_unused_code(min_confidence=60):
        path = Path(item.filename).resolve().relative_to(ROOT).as_posix()
        if item.typ in KINDS and item.name not in named and not path.startswith(NOT_REPORTED):
            found[item.name] = f"{path}:{item.first_lineno}: unused {item.typ} {item.name}"
    return found


def main() -> int:
    """Report unlisted unused definitions and listed used ones; return 1 if there are any."""
    found = unused()
    problems = [place for name, place in found.items() if name not in ALLOWED]
    problems += [
        f"scripts/dead_code.py: {name} is used or gone: {ALLOWED[name]}" for name in ALLOWED if name not in found
    ]
    print("\n".join(sorted(problems)) if problems else f"No dead code; {len(ALLOWED)} names are allowed.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
