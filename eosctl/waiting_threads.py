"""Wait in threads for what may never answer: a caller gives up at its deadline, and the process can end meanwhile.

A thread cannot be ended, and the threads of an executor hold up the end of the process. These end with it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

_T = TypeVar("_T")


def started(work: Callable[[], _T], when_returned: Callable[[], None] = lambda: None) -> asyncio.Future[_T]:
    """Start work in a thread of its own, and return its outcome as a future of the running loop.

    Args:
        work: What may block. It runs until it returns, also when its caller has given up.
        when_returned: Called in the loop when it has returned, also after its caller has given up.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        when_returned()
        if answer.done():
            return  # overdue
        if error is None:
            answer.set_result(result)  # type: ignore[arg-type]
        else:
            answer.set_exception(error)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            failed = error
        with suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=run, name="call", daemon=True).start()
    return answer


def within(limit_s: float, work: Callable[[], _T]) -> _T:
    """Return what work returns within a limit.

    Raises:
        TimeoutError: It has not returned, and runs in its thread until it does.
        Exception: It raised this.
    """
    answers: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            answers.put((None, error))

    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        result, failed = answers.get(timeout=limit_s)
    except Empty:
        raise TimeoutError(f"no answer within {limit_s:g} seconds") from None
    if failed is not None:
        raise failed
    return result  # type: ignore[return-value]
