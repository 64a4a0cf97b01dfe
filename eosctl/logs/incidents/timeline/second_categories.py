"""Records of two categories: the death of a thread or task, and the error of Kafka that it died of."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from eosctl.logs.classifier.catalog import acting_categories, load_incidents
from eosctl.logs.classifier.client_errors import category_of_error
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

ENDINGS: Final[frozenset[EventCategory]] = frozenset(
    {
        *("COMMIT_LOST", "CONNECTOR_TXN_FAILURE", "CONNECT_SEND_FAILED", "CONNECT_TASK_FAILED", "FRAMEWORK_ROLLBACK"),
        *("STREAMS_PROCESSING_FAILED", "STREAM_CLIENT_ERROR", "STREAM_THREAD_DEATH", "TXN_STATE_ERROR"),
        *("CONNECT_WORKER_ENDED", "JOB_RESTARTED"),
    }
)
"""Categories of records that report an effect together with its exception."""


def category_of_cause(event: LogEvent) -> EventCategory | None:
    """Return the category of the error that an ending names in its exception; None if it names none that matters."""
    if event.category not in ENDINGS or event.exception is None:
        return None
    return _category_of_chain(event.exception.chain)


def is_outside_kafka(event: LogEvent) -> bool:
    """Return whether an ending's innermost exception is that of another system, such as a database or an HTTP client.

    An exception of the JDK's own packages may come from Kafka's client or from the application. One of the network is
    of the system that the exception around it belongs to: Connect's workers call each other over HTTP.
    """
    if event.category not in ENDINGS or event.exception is None:
        return False
    inner = [name for name in event.exception.chain if name not in _WRAPPERS]
    chain = inner if any(not name.startswith(_TRANSPORT) for name in inner) else event.exception.chain
    owners = [name for name in chain if not name.startswith(_TRANSPORT)]
    if owners and len(owners) < len(chain) and owners[-1].startswith(_KAFKA):
        return False
    return not chain[-1].startswith(_OWN_PACKAGES) and not any(name.startswith(_KAFKA) for name in chain[-2:])


_WRAPPERS: Final = (
    "org.apache.kafka.connect.errors.ConnectException",
    "org.apache.kafka.connect.errors.RetriableException",
)
"""Exceptions that connectors put around those of their own system."""
_KAFKA: Final = ("org.apache.kafka.", "Confluent.Kafka.", "Streamiz.Kafka.", "cimpl.Kafka", "Kafka", "Rdkafka")
"""The beginnings of the exceptions of Kafka's clients, in any language."""
_TRANSPORT: Final = ("java.net.", "java.nio.", "java.util.concurrent.", "javax.net.", "sun.net.", "sun.nio.")
"""Packages of exceptions about a connection, which do not name the system at its other end."""
_OWN_PACKAGES: Final = (
    *_KAFKA,
    *("confluent_kafka.", "aiokafka.", "faust.", "KafkaFlow.", "RdKafka.", "rdkafka."),
    *("java.lang.", "java.util.", "java.io.", "org.springframework.", "io.smallrye.", "org.apache.flink."),
    *("scala.", "kotlin.", "jakarta.", "javax.transaction.", "reactor.", "akka.", "kafka."),
)
"""Packages of Kafka, of frameworks on top of it, and of the JDK: their exceptions do not name another system."""


@lru_cache(maxsize=1024)
def _category_of_chain(chain: tuple[str, ...]) -> EventCategory | None:
    """Return the category of the innermost exception of a chain that has one."""
    # What is an error only if it is repeated, or only a warning, is none of these: the thread or task has died.
    mild = {
        name
        for name, one in load_incidents().items()
        if one.at_least > 1 or one.lasting_s or one.severity is Severity.WARNING
    }
    known = (acting_categories() | load_incidents().keys()) - ENDINGS - mild
    names = (name.rpartition(".")[2] for name in reversed(chain))
    return next((found for name in names if (found := category_of_error(name)) and found in known), None)
