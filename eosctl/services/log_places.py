"""The places that logs are read from: files, and topics of a cluster with the settings by which others reach one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from eosctl.errors import EosctlError, UsageError
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.logs.topics.address import Topics


def existing(paths: Sequence[Path]) -> Sequence[Path]:
    """Return the paths of files and directories.

    Raises:
        UsageError: One of them does not exist, or is none.
    """
    from eosctl.logs.topics.address import is_topic_url, spelt

    if topics := [path for path in paths if is_topic_url(path)]:
        raise UsageError(
            f"{spelt(topics[0])} is no file.",
            "This command reads files.",
            "Topics are read by logs scan, report, watch and submit.",
        )
    found = [path if path.exists() or str(path) == "-" else on_this_machine(path) for path in paths]
    missing = [path for path in found if not path.exists() and str(path) != "-"]
    if missing:
        raise UsageError(f"There is no file {missing[0]}.", "", "Name log files, or directories that hold some.")
    return found


def on_this_machine(address: str | Path) -> Path:
    """Return the path of logs that were named as a path or as a `file:` URL.

    Raises:
        UsageError: They are in another file system.
    """
    from eosctl.logs.files.urls import local_path, scheme_of

    path = local_path(address)
    if path is None:
        scheme = scheme_of(address)
        raise UsageError(
            f"Logs at a URL of {scheme} cannot be read.",
            "eosctl and the tasks of its Spark jobs open files by their path.",
            "Mount the storage, or copy the logs to a directory that every executor has.",
        )
    return path


def connection_of(
    paths: Sequence[str | Path], command_config: Path | None, overrides: Sequence[str] | None, profile: str | None
) -> Connection:
    """Return how topics among the paths are reached.

    Raises:
        UsageError: There are none to reach.
    """
    from eosctl.logs.topics.address import is_topic_url

    connection = Connection(None, command_config, tuple(overrides or ()), profile)
    if connection.is_given and not any(is_topic_url(path) for path in paths):
        raise UsageError(
            "There is no cluster to connect to.",
            "Only files are read.",
            "Name topics too (kafka://HOST:PORT/TOPIC), or leave the settings of the connection out.",
        )
    return connection


def files_and_topics(
    paths: Sequence[Path], connection: Connection, remark: Callable[[str], None]
) -> tuple[list[Path], list[Topics]]:
    """Part what is to be read into files and topics.

    Args:
        paths: As they were named.
        connection: How topics are reached; what stands in an address itself goes before.
        remark: Called with the cluster's address, and with warnings.

    Raises:
        UsageError: A file does not exist, or topics are not named as they should be.
        ConfigFileError: The settings do not make a configuration.
    """
    from eosctl.logs.topics.address import is_topic_url

    topics = [reached(path, connection, remark) for path in paths if is_topic_url(path)]
    return list(existing([path for path in paths if not is_topic_url(path)])), topics


def reached(url: str | Path, connection: Connection, remark: Callable[[str], None]) -> Topics:
    """Return topics with all that is needed to reach them; keys and certificates are texts, so no files are.

    Raises:
        UsageError: They are not named as they should be.
        ConfigFileError: The settings do not make a configuration.
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
    """Spell what another program is to read, with the settings of topics in files for this user's eyes alone.

    Its arguments are there for all to see, on this machine and in Spark's user interface. The files are there while
    the ``with`` block runs.

    Args:
        paths: As they were named.
        connection: How topics are reached.
        remark: Called with the cluster's address, and with warnings.
        is_far: Whether the program runs on another machine, which has files of its own.
        is_shown_only: Whether nothing is to be written.

    Raises:
        UsageError: Topics are not named as they should be, or what is here cannot reach a program that is far.
        ConfigFileError: The settings do not make a configuration.
    """
    from eosctl.logs.topics.address import is_topic_url, with_settings_in

    if is_far and connection.is_given:
        raise UsageError(
            "--command-config, -X and --profile do not go with --deploy-mode cluster.",
            "The driver reads the settings, and it runs where the files of this machine are not.",
            "Name a file of librdkafka's settings that is there: kafka://HOST:PORT/TOPIC?config=FILE.",
        )
    with tempfile.TemporaryDirectory(prefix="eosctl-topics-") as folder:
        told = [path if is_topic_url(path) else str(on_this_machine(path)) for path in paths]
        for place, path in enumerate(paths):
            if is_far or not is_topic_url(path):
                continue
            topics = reached(path, connection, remark)
            if topics.has_settings:
                file = Path("" if is_shown_only else folder, f"eosctl_topics_{place}.json")
                if not is_shown_only:
                    file.touch(0o600)
                    file.write_text(json.dumps(dict(topics.settings)), "utf-8")
                told[place] = with_settings_in(path, file)
        yield told


@contextmanager
def reading_topics() -> Iterator[None]:
    """Turn an error of topics into one that says what to do next.

    Raises:
        EosctlError: They cannot.
    """
    from eosctl.logs.topics.address import TopicError

    try:
        yield
    except TopicError as error:
        raise EosctlError(
            "The topics cannot be read.",
            str(error),
            "Look at the brokers' address, and at the settings: --command-config FILE, or config=FILE in the address.",
        ) from error
