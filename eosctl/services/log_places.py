"""Find the sources of logs: files, and topics of a cluster with its connection settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from eosctl.errors import EosctlError, UsageError
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.temporary_folders import temporary_folder

if TYPE_CHECKING:
    from eosctl.logs.topics.address import Topics


def existing(paths: Sequence[Path]) -> Sequence[Path]:
    """Return the paths of files and directories.

    Raises:
        UsageError: One of them does not exist, or is not a file.
    """
    from eosctl.logs.topics.address import is_topic_url, spelt

    if topics := [path for path in paths if is_topic_url(path)]:
        raise UsageError(
            f"{spelt(topics[0])} is not a file.",
            "This command reads files.",
            "Read topics with logs scan, report, watch, or submit.",
        )
    found = [path if path.exists() or str(path) == "-" else on_this_machine(path) for path in paths]
    missing = [path for path in found if not path.exists() and str(path) != "-"]
    if missing:
        raise UsageError(f"{missing[0]} does not exist.", "", "Name log files, or directories with log files.")
    return found


def on_this_machine(address: str | Path) -> Path:
    """Return the path of logs from a path or a `file:` URL.

    Raises:
        UsageError: The logs are in another file system.
    """
    from eosctl.logs.files.urls import local_path, scheme_of

    path = local_path(address)
    if path is None:
        scheme = scheme_of(address)
        raise UsageError(
            f"Logs at a URL of {scheme} cannot be read.",
            "This command opens files by their path.",
            "Mount the storage, or read the logs with a Spark job: eosctl logs submit.",
        )
    return path


def connection_of(
    paths: Sequence[str | Path], command_config: Path | None, overrides: Sequence[str] | None, profile: str | None
) -> Connection:
    """Return the connection to the topics among the paths.

    Raises:
        UsageError: Connection settings are given without topics.
    """
    from eosctl.logs.topics.address import is_topic_url

    connection = Connection(None, command_config, tuple(overrides or ()), profile)
    if connection.is_given and not any(is_topic_url(path) for path in paths):
        raise UsageError(
            "Connection settings were given without topics.",
            "Only files are read.",
            "Name topics, too (kafka://HOST:PORT/TOPIC), or omit the settings.",
        )
    return connection


def files_and_topics(
    paths: Sequence[Path], connection: Connection, remark: Callable[[str], None]
) -> tuple[list[Path], list[Topics]]:
    """Split inputs into files and topics.

    Args:
        paths: The inputs as they were named.
        connection: The connection to topics; settings in an address take precedence.
        remark: Called with the cluster's address, and with warnings.

    Raises:
        UsageError: A file does not exist, or the address of topics is invalid.
        ConfigFileError: The settings are not a valid configuration.
    """
    from eosctl.logs.topics.address import is_topic_url

    topics = [reached(path, connection, remark) for path in paths if is_topic_url(path)]
    return list(existing([path for path in paths if not is_topic_url(path)])), topics


def reached(url: str | Path, connection: Connection, remark: Callable[[str], None]) -> Topics:
    """Return topics with all connection settings; keys and certificates are included as text, not as files.

    Raises:
        UsageError: The address is invalid.
        ConfigFileError: The settings are not a valid configuration.
    """
    from eosctl.client.access import librdkafka_settings, program_access
    from eosctl.logs.topics.address import TopicError, parse_topics

    try:
        topics = parse_topics(url)
    except TopicError as error:
        raise UsageError(
            "These topics cannot be read.", str(error), "Write kafka://HOST:PORT/TOPIC[?start=TIME&config=FILE]."
        ) from error
    resolved = resolve_connection(msgspec.structs.replace(connection, bootstrap=topics.brokers), remark)
    settings = librdkafka_settings(program_access(resolved.config))
    del settings["bootstrap.servers"]
    return replace(topics, settings=settings | dict(topics.settings))


@contextmanager
def handed_over(
    paths: Sequence[str], connection: Connection, remark: Callable[[str], None], *, is_far: bool, is_shown_only: bool
) -> Iterator[list[str]]:
    """Yield the inputs for another program, with the settings of topics in files that only this user can read.

    Other users can see a program's arguments, on this machine and in Spark's user interface. The files exist while
    the ``with`` block runs.

    Args:
        paths: The inputs as they were named.
        connection: The connection to topics.
        remark: Called with the cluster's address, and with warnings.
        is_far: Whether the program runs on another machine with its own files.
        is_shown_only: Whether the command is only shown, so that nothing is written.

    Raises:
        UsageError: The address of topics is invalid, or settings of this machine cannot reach the other machine.
        ConfigFileError: The settings are not a valid configuration.
    """
    from eosctl.logs.files.urls import local_path
    from eosctl.logs.topics.address import is_topic_url, with_settings_in

    if is_far and connection.is_given:
        raise UsageError(
            "--command-config, -X and --profile cannot be combined with --deploy-mode cluster.",
            "The driver reads the settings, but it runs without access to the files of this machine.",
            "Name a file of librdkafka's settings on that machine: kafka://HOST:PORT/TOPIC?config=FILE.",
        )
    with temporary_folder("eosctl-topics-") as folder:
        named = [path if is_topic_url(path) else str(local_path(path) or path) for path in paths]
        for place, path in enumerate(paths):
            if is_far or not is_topic_url(path):
                continue
            topics = reached(path, connection, remark)
            if topics.has_settings:
                file = Path("" if is_shown_only else folder, f"eosctl_topics_{place}.json")
                if not is_shown_only:
                    file.touch(0o600)
                    file.write_text(json.dumps(dict(topics.settings)), "utf-8")
                named[place] = with_settings_in(path, file)
        yield named


@contextmanager
def reading_topics() -> Iterator[None]:
    """Turn an error of topics into one with a next step.

    Raises:
        EosctlError: The topics cannot be read.
    """
    from eosctl.logs.topics.address import TopicError

    try:
        yield
    except TopicError as error:
        raise EosctlError(
            "The topics cannot be read.",
            str(error),
            "Check the brokers' address and the settings: --command-config FILE, or config=FILE in the address.",
        ) from error
