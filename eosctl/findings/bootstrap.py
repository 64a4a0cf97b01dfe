"""The words that make a proposed command reach the cluster."""

from __future__ import annotations

import shlex
from typing import Final

from msgspec.structs import replace

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.finding import Command
from eosctl.model.hang import HangVerdict, OpenTransaction
from eosctl.model.snapshot import ClusterSnapshot

COMMAND_CONFIG: Final = "--command-config"
"""The option for a file of client settings in eosctl and in most of Kafka's own tools."""
CONSUMER_CONFIG: Final = "--consumer.config"
"""The same for `kafka-console-consumer.sh`, which has `--command-config` only since 4.2 (KIP-1147)."""


def connection_words(address: str, command_config: str = "", option: str = COMMAND_CONFIG) -> tuple[str, ...]:
    """Return what follows `-b` or `--bootstrap-server` in a command, one element per word of the shell.

    Args:
        address: `host:port`, or several with commas.
        command_config: The file of client settings; empty without one.
        option: The option for that file.
    """
    return (address, option, command_config) if command_config else (address,)


def bootstrap_of(snapshot: ClusterSnapshot, option: str = COMMAND_CONFIG) -> str:
    """Return the text that follows `-b` or `--bootstrap-server`: the first broker that answered, and its settings.

    It is several words of the shell, each already quoted: put it into a command line as it is, never through
    `shlex.quote` or `shlex.join`.
    """
    known = sorted((b for b in snapshot.brokers if b.host), key=lambda b: (not b.reachable, b.fenced))
    broker = known[0] if known else None
    address = "HOST:PORT" if broker is None else f"{broker.host}:{broker.port}"
    return shlex.join(connection_words(address, snapshot.command_config, option))


def own_bootstrap_of(snapshot: ClusterSnapshot) -> str:
    """Return the same for eosctl's own commands, with the options that only they understand."""
    return " ".join((bootstrap_of(snapshot), *map(shlex.quote, snapshot.client_options)))


def complete_commands(diagnosis: Diagnosis, snapshot: ClusterSnapshot) -> Diagnosis:
    """Add to eosctl's own commands in findings the options with which the cluster was reached."""
    if not snapshot.client_options:
        return diagnosis
    short, whole = bootstrap_of(snapshot), own_bootstrap_of(snapshot)

    def complete(commands: tuple[Command, ...]) -> tuple[Command, ...]:
        return tuple(
            replace(one, line=one.line.replace(f"-b {short}", f"-b {whole}")) if one.line.startswith("eosctl ") else one
            for one in commands
        )

    return replace(
        diagnosis,
        results=tuple(
            replace(
                result,
                findings=tuple(
                    replace(one, commands=complete(one.commands), verify=complete(one.verify))
                    for one in result.findings
                ),
            )
            for result in diagnosis.results
        ),
    )


def target_words(transaction: OpenTransaction) -> str:
    """Return the options that name a hanging transaction to ``txn abort`` and ``txn complete``."""
    partition = transaction.partition
    words = ("--topic", partition.topic, "--partition", str(partition.partition))
    return f"{shlex.join(words)} --producer-id {transaction.producer_id}"


def marker_line(verdict: HangVerdict, bootstrap: str) -> str:
    """Return the command that plans the marker of a hanging transaction; empty where neither marker can be written.

    Args:
        verdict: The verdict on the transaction.
        bootstrap: What follows ``-b``, see ``bootstrap_of``.
    """
    if not (verdict.can_abort or verdict.can_complete):
        return ""
    command = "abort" if verdict.can_abort else "complete"
    return f"eosctl txn {command} {target_words(verdict.transaction)} -b {bootstrap}"
