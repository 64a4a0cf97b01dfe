"""pygls' client, in front of ``eosctl lsp`` as a process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.servers.conftest import program

T = TypeVar("T")


class Editor:
    """An editor with open files: a client, and what the server has published."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.log: list[str] = []
        self._published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self._published.put_nowait(params)

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.log.append(params.message)

    async def open(self, path: Path, text: str) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(uri=path.as_uri(), language_id="properties", version=1, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(1)

    def change(self, path: Path, text: str, version: int) -> None:
        document = types.VersionedTextDocumentIdentifier(version=version, uri=path.as_uri())
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    async def diagnostics(self, version: int | None) -> list[types.Diagnostic]:
        """Wait for the diagnostics of a version."""
        while True:
            params = await self._published.get()
            if params.version == version:
                return list(params.diagnostics)

    async def hover(self, path: Path, line: int, character: int) -> str:
        where = types.Position(line, character)
        params = types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), where)
        found = await self.client.text_document_hover_async(params)
        return "" if found is None else found.contents.value  # type: ignore[union-attr]

    async def actions(self, path: Path, line: int, known: list[types.Diagnostic]) -> list[types.CodeAction]:
        where = types.Range(types.Position(line, 0), types.Position(line, 0))
        context = types.CodeActionContext(diagnostics=known)
        params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), where, context)
        return list(await self.client.text_document_code_action_async(params) or ())  # type: ignore[arg-type]


def edit(work: Callable[[Editor], Awaitable[T]]) -> T:
    """Start the server, let an editor work with it, and stop it."""
    command, arguments, environment = program("lsp")

    async def run() -> T:
        import os

        client = LanguageClient("editor", "1")
        editor = Editor(client)
        await client.start_io(command, *arguments, env={**os.environ, **environment})
        await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        client.initialized(types.InitializedParams())
        try:
            return await work(editor)
        finally:
            with suppress(asyncio.CancelledError):
                await client.shutdown_async(None)
                client.exit(None)
                await client.stop()

    return asyncio.run(run())


def applied(text: str, action: types.CodeAction) -> str:
    """Return a text after the edit of an action, which has whole lines."""
    assert action.edit is not None
    assert action.edit.changes is not None
    ((edit,),) = action.edit.changes.values()
    lines = text.splitlines(keepends=True)
    assert edit.range.start.character == edit.range.end.character == 0
    return "".join([*lines[: edit.range.start.line], edit.new_text, *lines[edit.range.end.line :]])
