"""Select the dirtiest log and clean it in small steps (Kafka's `LogCleaner`, `LogCleanerManager`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.log.cleaning.cleaner import Interrupted, LogCleaning
from eosctl.sandbox.log.cleaning.plan import CleaningPlan, plan_cleaning
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.errors import WireError

#: Bytes of Kafka's offset map per key: an MD5 and an offset (SkimpyOffsetMap).
_BYTES_PER_KEY: Final = 24


class LogCleaner:
    """Cleans one log after the other; without work, it checks again after `log.cleaner.backoff.ms`.

    A log that cannot be read or written is excluded from then on, as in Kafka.
    """

    def __init__(
        self,
        runtime: NodeRuntime,
        config: NodeConfig,
        logs: Callable[[], Iterable[PartitionLog]],
        delete_later: Callable[[PartitionLog, list[Path]], None],
        checkpoint: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._logs = logs
        self._delete_later = delete_later
        self._checkpoint = checkpoint
        self.uncleanable: dict[PartitionLog, Exception] = {}

    def start(self) -> None:
        """Start to check for work."""
        self._look()

    def _look(self) -> None:
        chosen = self._choose()
        if chosen is None:
            self._runtime.call_later(self._config.get_int("log.cleaner.backoff.ms"), self._look, Pace.SCAN)
            return
        log, plan = chosen
        cleaning = LogCleaning(log, plan, self._runtime.now_ms(), self._max_keys())
        self._step(log, cleaning, cleaning.steps())

    def _choose(self) -> tuple[PartitionLog, CleaningPlan] | None:
        """Return the dirtiest of the logs that need cleaning."""
        now_ms = self._runtime.now_ms()
        due: list[tuple[PartitionLog, CleaningPlan]] = []
        for log in self._logs():
            if log.settings.is_compacted and not log.closed and log not in self.uncleanable:
                plan = plan_cleaning(log, now_ms)
                if plan is not None and plan.needs_cleaning(log.settings.min_cleanable_dirty_ratio):
                    due.append((log, plan))
        return max(due, key=lambda found: found[1].cleanable_ratio, default=None)

    def _step(self, log: PartitionLog, cleaning: LogCleaning, steps: Iterator[None]) -> None:
        try:
            next(steps)
        except StopIteration:
            if cleaning.end_offset <= log.cleaned_until:
                self.uncleanable[log] = MemoryError("log.cleaner.dedupe.buffer.size is too small for one segment")
            log.cleaned_until = cleaning.end_offset
            self._checkpoint()
        except Interrupted:
            pass
        except (OSError, WireError) as error:
            self.uncleanable[log] = error
        else:
            self._runtime.call_later(0, lambda: self._step(log, cleaning, steps))
            return
        if cleaning.retired:
            self._delete_later(log, cleaning.retired)
        self._runtime.call_later(0, self._look)

    def _max_keys(self) -> int:
        """Return the number of keys that fit into `log.cleaner.dedupe.buffer.size` at its load factor."""
        buffer_bytes = self._config.get_int("log.cleaner.dedupe.buffer.size")
        load_factor = float(self._config.get_str("log.cleaner.io.buffer.load.factor"))
        return max(1, int(buffer_bytes // _BYTES_PER_KEY * load_factor))
