"""A program that provides the clients of another language: requests and responses are JSON objects, one per line.

The first line contains the connection parameters of `eosctl.client.access`; it has no response.

A request has `number`, `actor`, `op`, and the parameters of the operation: `open` (`transactional_id`, `timeout_ms`,
and for a group member `group` and `topic`), `begin`, `append` (`topic`, `partition`, `value`), `offsets` (`offsets` as
pairs of partition and offset, committed with the transaction), `commit`, `abort`, `take` (`wait_ms`), `read` (`topic`,
`count` of its partitions, `wait_ms`), and `drop`, which has no response. An actor has separate clients, and its
responses come in order.

A response has the `number`; for an append the `offset`; for read and take `records` as partition, offset, and value,
only committed ones. Reads continue from the start of all partitions; takes continue from the group's committed offsets
in the assigned partitions, so records are returned again after an abort. `aborted` is set if a client has aborted a
transaction instead of committing it, because its group had changed.

A failure has `error` and `class`: `fenced` (another producer uses the transactional id), `abortable` (abort, then
continue), `again` (retry the request), or `fatal`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from eosctl.errors import EosctlError

_LINE_BYTES: Final = 16 << 20
_END_S: Final = 5.0
#: Longer than any call of these clients may take by their settings.
_PATIENCE_S: Final = 20.0
#: Start-up time of the program with its first client, and maximum number of attempts.
_START_S: Final = 60.0
_START_TRIES: Final = 5


class FailureClass(StrEnum):
    """The required reaction to an error, as the client's documentation describes it."""

    FENCED = "fenced"
    ABORTABLE = "abortable"
    AGAIN = "again"
    FATAL = "fatal"


class DriverFailure(EosctlError):  # noqa: N818
    """The client could not execute a request."""

    def __init__(self, what: str, failure_class: FailureClass) -> None:
        super().__init__(what, "The client of this run said so.", "See what the brokers did at that time.")
        self.failure_class = failure_class


def _ended(complaints: Path) -> EosctlError:
    said = complaints.read_text("utf-8", "replace").strip().splitlines()
    return EosctlError(
        "The program that speaks with the clients of this run has ended.",
        f"It said: {said[0]}" if said else "It said nothing.",
        "Play the run again, with fewer --ids if memory was short.",
    )


class Driver:
    """A running program.

    Args:
        process: The program, with pipes.
        complaints: The file with its stderr.
        access: The connection parameters.
        patience_s: Maximum duration of a client call; a longer one hangs.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        complaints: Path,
        access: Mapping[str, object],
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._process = process
        self._complaints = complaints
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._fault: EosctlError | None = None
        self._patience_s = patience_s
        self._send(**access)
        self._listening = asyncio.ensure_future(self._listen())

    async def ask(self, actor: str, op: str, **needs: object) -> dict[str, Any]:
        """Send a request and return the response.

        Raises:
            DriverFailure: The client failed, or its call hangs, as librdkafka's `send_offsets_to_transaction` may after
                a network delay.
            EosctlError: The program has ended.
        """
        return await self._ask(actor, op, needs, self._patience_s)

    async def greet(self, transactional_id: str) -> None:
        """Wait until a first client has initialized a producer, so that the program can use the cluster.

        Raises:
            EosctlError: It fails, with the client's message, or the program has ended.
        """
        needs = {"transactional_id": transactional_id, "timeout_ms": 10_000}
        for tries_left in reversed(range(_START_TRIES)):
            try:
                await self._ask("first", "open", needs, _START_S)
                break
            except DriverFailure as failure:
                if not tries_left or failure.failure_class is not FailureClass.AGAIN:
                    raise EosctlError(
                        "The client of this run cannot use the cluster.",
                        f"It said: {failure.what}",
                        "Check its security settings, and whether this user may use transactional ids.",
                    ) from failure
        self.drop("first")

    async def _ask(self, actor: str, op: str, needs: Mapping[str, object], patience_s: float) -> dict[str, Any]:
        if self._listening.done():
            raise self._fault or _ended(self._complaints)
        number = next(self._numbers)
        future = asyncio.get_running_loop().create_future()
        self._asked[number] = future
        self._send(number=number, actor=actor, op=op, **needs)
        try:
            async with asyncio.timeout(patience_s):
                answer: dict[str, Any] = await future
        except TimeoutError:
            waited = f"{op} of {actor} did not return within {patience_s:g} s"
            raise DriverFailure(waited, FailureClass.FATAL) from None
        finally:
            self._asked.pop(number, None)
        if "error" in answer:
            raise DriverFailure(f"{op} of {actor}: {answer['error']}", FailureClass(answer["class"]))
        return answer

    def drop(self, actor: str) -> None:
        """Discard an actor's client without a request to the brokers; its later responses are ignored."""
        if not self._listening.done():
            self._send(number=next(self._numbers), actor=actor, op="drop")

    def _send(self, **ask: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(ask).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                answer = _parse(line)
                asked = self._asked.get(answer["number"])
                if asked is not None and not asked.done():
                    asked.set_result(answer)
        except EosctlError as error:
            self._fault = error
        finally:
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(self._fault or _ended(self._complaints))

    async def end(self) -> None:
        """Close its input and wait for its end; kill it if it does not end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)


def _parse(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("number"), int):
        raise EosctlError(
            "The program that speaks with the clients of this run does not answer as it should.",
            f"It wrote: {line[:200].decode('utf-8', 'replace').strip()}",
            "Only JSON objects with a number belong on its stdout.",
        )
    return answer


@asynccontextmanager
async def start_driver(
    command: Sequence[str], complaints: Path, access: Mapping[str, object], patience_s: float = _PATIENCE_S
) -> AsyncIterator[Driver]:
    """Start a program and pass it the connection parameters; stop it at the end. Its stderr goes to a file.

    Passwords are passed through its stdin, since other users can read the arguments and environment of a process.

    Raises:
        EosctlError: It cannot be started.
    """
    try:
        with complaints.open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                limit=_LINE_BYTES,
            )
    except OSError as error:
        raise EosctlError(
            f"{command[0]} cannot be started.", error.strerror or str(error), "Check that it is there and may be run."
        ) from error
    driver = Driver(process, complaints, access, patience_s)
    try:
        yield driver
    finally:
        await driver.end()
