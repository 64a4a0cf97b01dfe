"""Name the program that wrote a record in texts: by a name in its log, or by the file.

``LogEvent.application`` joins the files of one program and stays what it is. Where it only repeats a file's name, a
text that uses it presents a file as a program.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from eosctl.logs.files.applications import is_named_after_file
from eosctl.logs.incidents.timeline.names import PROCESS
from eosctl.logs.incidents.timeline.shared_logs import CLIENTS_SUFFIX
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

MADE_NAME: Final = re.compile(r"(?:producer|consumer|admin\w*)-\d+|rdkafka")
"""The names of clients without a client.id."""
_OF_STREAMS: Final = re.compile(PROCESS)
_FIELDS: Final[tuple[EventField, ...]] = ("application_id", "rdkafka_client", "client_id")


def program_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the name of an event's program inside a sentence.

    If the application is only the name of a file, the name is an application id or client id that the event has or
    its whole log agrees on, and else "the program of FILE".
    """
    application = event.application.removesuffix(CLIENTS_SUFFIX)
    path = Path(event.file.replace("\\", "/"))
    if not is_named_after_file(path, application):
        return event.application
    for field in _FIELDS:
        # librdkafka's handle is the client.id and the number of the instance: pay-svc#producer-1.
        name = (event.fields.get(field) or timeline.value_in_log(event, field)).partition("#")[0]
        if name and not MADE_NAME.fullmatch(name) and not _OF_STREAMS.search(name):
            return name
    return f"{'the program of' if application == event.application else 'a client in'} {path.name}"


def client_id_of(event: LogEvent) -> str:
    """Return the client.id that an application chose and an event names; empty for a generated one."""
    name = (event.fields.get("client_id") or event.fields.get("rdkafka_client", "")).partition("#")[0]
    return "" if MADE_NAME.fullmatch(name) else name


def opening(text: str) -> str:
    """Return a sentence that may begin with such a name, with a capital letter where the name is a description."""
    is_description = text.startswith(("the program of ", "a client in "))
    return text[0].upper() + text[1:] if is_description else text
