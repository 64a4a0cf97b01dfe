"""What the tools answer: the result of a command as JSON, its exit code, and what was and was not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from eosctl.errors import EosctlError, ExitCode, defect_error, file_error, unknown_name
from eosctl.model.redaction import redact_text
from eosctl.render.failure import render_failure
from eosctl.render.schemas import schema_of
from eosctl.servers.arguments import arguments_schema, read_arguments
from eosctl.services.callbacks import Callbacks, system_now_ms
from eosctl.services.connection import Connection
from eosctl.text import count_text

MEANINGS: Final[Mapping[int, str]] = {
    ExitCode.DONE: "done; the result covers only what is listed as read",
    ExitCode.FAILED: "the operation failed, or input is damaged",
    ExitCode.BAD_INPUT: "input was not read or not recognized: this is not an all-clear",
    ExitCode.FINDINGS: "findings at or above the threshold",
    ExitCode.INCOMPLETE: "evidence or input is incomplete: this is not an all-clear",
}
_SHOWN: Final = 20


class Answer(NamedTuple):
    """The answer of a tool.

    Attributes:
        result: What the command prints with ``-o json``.
        exit_code: The exit code of the command.
        read: What was read, as what.
        unread: What was not read or not judged; empty if everything was.
    """

    result: str
    exit_code: ExitCode
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Reply(NamedTuple):
    """The answer of a tool with its coverage in words, or its error.

    Attributes:
        result: JSON: the result, or the error as ``eosctl schema error`` describes it.
        coverage: The exit code with its meaning, what was read, what was not, and remarks, a line each.
        exit_code: The exit code of the command.
        is_error: Whether the operation failed.
        is_object: Whether the result is one JSON object, not lines.
    """

    result: str
    coverage: str
    exit_code: int
    is_error: bool
    is_object: bool = True


class Tool(NamedTuple):
    """A tool that reads.

    Attributes:
        name: Its name.
        title: What it does, in an imperative line.
        description: When to call it, and what it returns.
        form: The type of its arguments.
        schema: The name of its result in ``eosctl schema``; empty if it writes lines.
        answer: Calls a service with the arguments and the cluster that the server was started with.
    """

    name: str
    title: str
    description: str
    form: type[msgspec.Struct]
    schema: str
    answer: Callable[[Any, Connection, Callbacks], Answer]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return arguments_schema(self.form)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its result, with the root type that the protocol requires."""
        return {**schema_of(self.schema), "type": "object"} if self.schema else None


def call(tools: Mapping[str, Tool], name: str, arguments: Mapping[str, object], connection: Connection) -> Reply:
    """Call a tool; an error is a reply, too.

    Args:
        tools: The tools by name.
        name: The tool.
        arguments: Its arguments, unchecked.
        connection: The cluster that the server was started with.
    """
    remarks: list[str] = []
    callbacks = Callbacks(
        system_now_ms, remarks.append, report_error=lambda error: remarks.append(" ".join(str(error).splitlines()))
    )
    try:
        if name not in tools:
            raise unknown_name("tool", name, tools, "List the tools")
        tool = tools[name]
        answer = tool.answer(read_arguments(tool.form, arguments), connection, callbacks)
    except EosctlError as error:
        return failed_reply(error, remarks)
    except Exception as error:  # noqa: BLE001 - a defect in one tool must not end the server
        defect = (file_error(error) if isinstance(error, OSError) else None) or defect_error(
            error, "Run the command in a shell with: eosctl --debug ..."
        )
        return failed_reply(defect, remarks)
    coverage = "\n".join(_coverage_lines(answer.exit_code, answer.read, answer.unread, remarks))
    return Reply(
        answer.result,
        coverage,
        int(answer.exit_code),
        answer.exit_code in (ExitCode.FAILED, ExitCode.BAD_INPUT),
        bool(tool.schema),
    )


def failed_reply(error: EosctlError, remarks: Iterable[str] = ()) -> Reply:
    """Return an error with its secrets masked, as the command line does."""
    error.what, error.why = redact_text(error.what), redact_text(error.why)
    coverage = "\n".join(
        _coverage_lines(error.exit_code, (), ("everything: the operation ended with an error",), remarks)
    )
    return Reply(render_failure(error), coverage, int(error.exit_code), is_error=True)


def _coverage_lines(code: int, read: Iterable[str], unread: Iterable[str], remarks: Iterable[str]) -> Iterator[str]:
    yield f"exit code {code}: {MEANINGS[code]}"
    for label, texts in (("read", read), ("not read or not judged", unread), ("remark", remarks)):
        lines = list(texts)
        yield from (f"{label}: {redact_text(line)}" for line in lines[:_SHOWN])
        if len(lines) > _SHOWN:
            yield f"{label}: and {count_text(len(lines) - _SHOWN, 'more line')}"
