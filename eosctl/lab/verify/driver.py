"""A program that lends a run the clients of another language: one JSON object a line, asked and answered.

The first line is how to reach the cluster, as `eosctl.client.access` tells it; it is not answered.

An ask has `number`, `actor`, `op` and what the op needs: `open` (`transactional_id`, `timeout_ms`, and of a member of a
group `group` and `topic`), `begin`, `append` (`topic`, `partition`, `value`), `offsets` (`offsets` as pairs of
partition and offset, which are committed with the transaction), `commit`, `abort`, `take` (`wait_ms`), `read` (`topic`,
`count` of its partitions, `wait_ms`), and `drop`, which is not answered. An actor has clients of its own and is
answered in its order.

An answer has the `number` and, for an append, the `offset`; for read and take `records` as partition, offset and value,
committed ones. A read goes on from the start of all partitions, a take from what the group has committed in the
partitions that are the member's now: after an abort they come again. `aborted` says that a client has ended a
transaction so that was to be committed, as its group had changed.

What failed is answered with `error` and `class`: `fenced` (somebody else has the transactional id), `abortable` (abort,
then go on), `again` (the call may be repeated), `fatal`.
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
#: Longer than any call of these clients may take by their own settings.
_PATIENCE_S: Final = 20.0
#: How long the first client may take, whose program has yet to start, and how often it may try.
_START_S: Final = 60.0
_START_TRIES: Final = 5


class FailureClass(StrEnum):
    """What is left to do after an error, as the client's documentation says."""

    FENCED = "fenced"
    ABORTABLE = "abortable"
    AGAIN = "again"
    FATAL = "fatal"


class DriverFailure(EosctlError):  # noqa: N818
    """The client could not do what it was asked for."""

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
        complaints: The file that its stderr goes to.
        access: How to reach the cluster.
        patience_s: How long a call of a client may take; it hangs after that.
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
        self._tell(**access)
        self._listening = asyncio.ensure_future(self._listen())

    async def ask(self, actor: str, op: str, **needs: object) -> dict[str, Any]:
        """Ask for something and return the answer.

        Raises:
            DriverFailure: The client refused or failed, or its call hangs: librdkafka's `send_offsets_to_transaction`
                was seen to do so after a delay on the network.
            EosctlError: The program has ended.
        """
        return await self._ask(actor, op, needs, self._patience_s)

    async def greet(self, transactional_id: str) -> None:
        """Wait until a first client has initialised a producer: its program is up, and it can use the cluster.

        Raises:
            EosctlError: It cannot, in its own words, or the program has ended.
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
        self._tell(number=number, actor=actor, op=op, **needs)
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
        """Let an actor's client go without a word to the brokers; nothing of it is answered any more."""
        if not self._listening.done():
            self._tell(number=next(self._numbers), actor=actor, op="drop")

    def _tell(self, **ask: object) -> None:
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
        """Close its input and wait until it has ended; kill it when it does not."""
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
    """Start a program, tell it how to reach the cluster, and end it at the end; its stderr goes to a file.

    Passwords go through its stdin: arguments and environment of a process can be read by others.

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
