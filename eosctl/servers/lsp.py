"""The Language Server Protocol over standard input and output: marks, explanations, and repairs, by pygls."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast
from urllib.parse import unquote

from eosctl import __version__
from eosctl.errors import EosctlError, UsageError
from eosctl.findings.repair import Repair, RepairAction
from eosctl.model.redaction import redact_text
from eosctl.model.severity import Severity
from eosctl.render.configuration.setting import setting_markdown
from eosctl.servers.lsp_session import BoundedInput, Ending, answering_protocol, keep_log_short
from eosctl.servers.marks import Mark, coverage_lines, marks_of
from eosctl.services.edit_configuration import EditedFile, OpenFile, explain_at, judge_open_file, repairs_of

if TYPE_CHECKING:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer
    from pygls.workspace import TextDocument

NAME: Final = "eosctl"
FIX_ALL: Final = "source.fixAll.eosctl"
_LEVELS: Final = {Severity.CRITICAL: 1, Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}
T = TypeVar("T")


def serve() -> None:
    """Serve an editor until it sends `exit`, or standard input ends.

    Raises:
        UsageError: The extra `lsp` is not installed, or the editor sends a message beyond `MESSAGE_LIMIT_BYTES`.
        EosctlError: The editor sent `exit` without `shutdown`, for which the protocol demands status 1.
    """
    try:
        import pygls.lsp.server  # noqa: F401 - whether it is there
    except ImportError as error:
        raise UsageError("eosctl lsp needs the extra lsp.", "", "Install it: pip install 'eosctl[lsp]'") from error
    keep_log_short()
    ending = Ending()
    _server(ending).start_io(cast("BinaryIO", BoundedInput(sys.stdin.buffer)))
    if ending.is_abrupt:
        raise EosctlError(
            "The editor ended the server without a shutdown request.",
            "The protocol demands the request, and status 1 without it.",
            "Report it to the authors of the editor if it happens at every exit.",
        )


def _server(ending: Ending) -> LanguageServer:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

    server = LanguageServer(NAME, __version__, protocol_cls=answering_protocol())
    server.feature(types.SHUTDOWN)(lambda *_: ending.shutdown())
    server.feature(types.EXIT)(lambda *_: ending.exit())
    _publish_marks(server)
    _answer_requests(server)
    return server


def _publish_marks(server: LanguageServer) -> None:
    """Judge each file when it is opened, and each new text of it."""
    from lsprotocol import types

    one_at_a_time = asyncio.Lock()

    async def judge(uri: str) -> None:
        """Judge the newest text of a document; a text that was replaced meanwhile is not judged."""
        first = _opened(server, uri)
        version = None if first is None else first.version
        async with one_at_a_time:
            document = _opened(server, uri)
            file = _open_file(document)
            if document is None or file is None or document.version != version:
                return
            lines, marks = await asyncio.to_thread(_judge, file)
            for line in lines:
                server.window_log_message(types.LogMessageParams(types.MessageType.Info, line))
            if uri in server.workspace.text_documents and document.version == version:
                found = [_diagnostic(mark, document) for mark in marks]
                server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await judge(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        await judge(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))


def _answer_requests(server: LanguageServer) -> None:
    """Explain the setting under the pointer, and offer the repairs of findings."""
    from lsprotocol import types

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = _opened(server, params.text_document.uri)
        file = _open_file(document)
        if document is None or file is None:
            return None
        place = document.position_codec.position_from_client_units(document.lines, params.position)
        found = await asyncio.to_thread(explain_at, file, place.line + 1, place.character)
        if found is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, setting_markdown(found)))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = _opened(server, params.text_document.uri)
        file = _open_file(document)
        if document is None or file is None:
            return []
        lines = params.range.start.line + 1, params.range.end.line + 1
        edits = await asyncio.to_thread(repairs_of, file, *lines)
        return [_action(edit, document, params.context.diagnostics) for edit in edits]


def _opened(server: LanguageServer, uri: str) -> TextDocument | None:
    """Return a document that the editor has opened; pygls would read any other from disk, also a device."""
    found: TextDocument | None = server.workspace.text_documents.get(unquote(uri))
    return found


def _open_file(document: TextDocument | None) -> OpenFile | None:
    """Return the file of a document; None for one without a file, such as an untitled one."""
    from pygls.uris import to_fs_path

    if document is None:
        return None
    path = to_fs_path(document.uri) if document.uri.startswith("file:") else None
    return None if path is None else OpenFile(Path(path), document.source)


def _judge(file: OpenFile) -> tuple[tuple[str, ...], tuple[Mark, ...]]:
    """Return lines for the log of the editor, and the marks."""
    try:
        linted = judge_open_file(file)
    except EosctlError as error:
        return (f"{file.path}: not judged: {redact_text(str(error))}",), ()
    lines = tuple(coverage_lines(str(file.path), linted))
    return lines, () if linted is None else marks_of(linted, file.text)


def _diagnostic(mark: Mark, document: TextDocument) -> types.Diagnostic:
    from lsprotocol import types

    extent = types.Range(types.Position(mark.line, mark.start), types.Position(mark.line, mark.end))
    return types.Diagnostic(
        range=document.position_codec.range_to_client_units(document.lines, extent),
        message=mark.message,
        severity=types.DiagnosticSeverity(_LEVELS[mark.severity]),
        code=mark.code or None,
        source=NAME,
    )


def _action(edited: EditedFile, document: TextDocument, diagnostics: Sequence[types.Diagnostic]) -> types.CodeAction:
    from lsprotocol import types

    repair = edited.repair
    edit = types.WorkspaceEdit(changes={document.uri: [_text_edit(document, edited.text)]})
    if repair is None:
        return types.CodeAction("eosctl: make all repairs of this file", kind=FIX_ALL, edit=edit)
    solved = [one for one in diagnostics if (one.code, one.range.start.line + 1) == (repair.check_id, repair.line)]
    return types.CodeAction(
        _title(repair), kind=types.CodeActionKind.QuickFix, diagnostics=solved, edit=edit, is_preferred=True
    )


def _title(repair: Repair) -> str:
    name = repair.key.rpartition("]")[2] or repair.key
    match repair.action:
        case RepairAction.SET:
            what = f"Set {name} to {repair.text}"
        case RepairAction.RENAME:
            what = f"Rename {name} to {repair.text}"
        case RepairAction.REMOVE:
            what = f"Remove {name}"
    return f"{what} ({repair.check_id})"


def _text_edit(document: TextDocument, text: str) -> types.TextEdit:
    """Return the replacement of the lines that differ."""
    from lsprotocol import types

    before, after = document.source.splitlines(keepends=True), text.splitlines(keepends=True)
    start = _common(before, after)
    end = min(_common(before[::-1], after[::-1]), len(before) - start, len(after) - start)
    extent = types.Range(types.Position(start, 0), types.Position(len(before) - end, 0))
    return types.TextEdit(extent, "".join(after[start : len(after) - end]))


def _common(left: Sequence[T], right: Sequence[T]) -> int:
    """Return how many elements both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))
