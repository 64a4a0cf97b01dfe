"""Start, stop, and inspect local clusters of this user."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.model.client_config import Given
from eosctl.model.emulation import FULL_RELEASE, NEWEST, RELEASES
from eosctl.model.redaction import setting_text
from eosctl.model.sandbox import SandboxItem
from eosctl.sandbox.faults.bugs import find_bug, parse_switch
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.data_directory import files_left
from eosctl.sandbox.process.listeners import plan_listeners
from eosctl.sandbox.process.manage import Found
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.sandbox.security.protocol import ADMIN_USER, MECHANISMS, STANDARD_AUTHORIZER, ListenerSecurity
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.real_kafka import RealKafkaRequest, start_real_kafka, stop_real_kafka
from eosctl.services.sandbox_access import client_file_of
from eosctl.settings.clusters.profiles import is_plain_secret, refuse_plain_secret
from eosctl.settings.values.references import has_reference, resolve_references

DEFAULT_NAME: Final = "default"
DEFAULT_RELEASE: Final = FULL_RELEASE[NEWEST]
_USER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class EngineChoice(StrEnum):
    """Whose brokers run."""

    SANDBOX = "sandbox"
    APACHE = "apache"


class OwnFeatures(NamedTuple):
    """What only the brokers of eosctl itself can be asked for.

    Attributes:
        controllers: How many controllers vote on who leads: 1 or 3.
        log_dirs: How many log directories each broker has.
        racks: Racks, which the brokers take in turn; real ones as well.
        emulate: The release to behave as.
        fast: Whether timeouts are short.
        metrics_port: The first port of Prometheus endpoints.
        bugs: Known bugs to switch on or off: ``NAME`` or ``NAME=off``.
        sasl: SASL mechanisms.
        tls: Whether the listener is encrypted.
        users: Users in addition to the admin.
        authorizer: Whether access control lists decide.
        listen: The listeners that the brokers bind: ``[NAME://]ADDRESS[:PORT]``; 127.0.0.1 by default.
        advertise: The addresses that the brokers give to clients: ``[NAME://]HOST[:PORT]``.
        inter_broker_listener: The listener that brokers name for each other; the first one by default.
        insecure: Whether clients from elsewhere need no TLS and no login.
        processes: How many processes share the nodes.
    """

    controllers: int = 1
    log_dirs: int = 1
    racks: tuple[str, ...] = ()
    emulate: str = NEWEST
    fast: bool = False
    metrics_port: int | None = None
    bugs: tuple[str, ...] = ()
    sasl: tuple[str, ...] = ()
    tls: bool = False
    users: tuple[str, ...] = ()
    authorizer: bool = False
    listen: tuple[str, ...] = ()
    advertise: tuple[str, ...] = ()
    inter_broker_listener: str | None = None
    insecure: bool = False
    processes: int = 1


_OPTIONS: Final = {"racks": "rack", "bugs": "bug", "users": "user"}
"""The options of features that are named otherwise."""


class SandboxRequest(NamedTuple):
    """A cluster to start.

    Attributes:
        name: Its name.
        engine: Whose brokers run.
        brokers: How many.
        data_dir: Where they keep their files; None for the usual place.
        ephemeral: Whether the files are removed when it stops.
        transaction_version: The finalized level; None for the release's default.
        port_base: The first port; None for free ones.
        ttl_ms: The time after which it stops by itself; None for never.
        settings: Broker settings: ``KEY=VALUE``.
        kafka: The release of real brokers.
        own: What only eosctl's own brokers understand.
    """

    name: str = DEFAULT_NAME
    engine: EngineChoice = EngineChoice.SANDBOX
    brokers: int = 3
    data_dir: Path | None = None
    ephemeral: bool = False
    transaction_version: int | None = None
    port_base: int | None = None
    ttl_ms: int | None = None
    settings: tuple[str, ...] = ()
    kafka: str | None = None
    own: OwnFeatures = OwnFeatures()


class Stopped(NamedTuple):
    """A sandbox that was stopped: how, and the files that it left because it did not write them."""

    name: str
    how: str
    data_dir: str
    left: tuple[str, ...] = ()


def start_sandbox(request: SandboxRequest, callbacks: Callbacks = SILENT) -> SandboxItem:
    """Start a cluster in the background and return when it answers clients.

    Raises:
        UsageError: The request contradicts itself.
        EosctlError: The cluster does not start.
    """
    settings = tuple(map(parse_setting, request.settings))
    data_dir = request.data_dir or paths.default_data_dir(request.name)
    if request.engine is EngineChoice.APACHE:
        _refuse_own_features(request.own._replace(racks=()))
        order = RealKafkaRequest(
            name=request.name,
            data_dir=data_dir,
            brokers=request.brokers,
            kafka=request.kafka or DEFAULT_RELEASE,
            transaction_version=request.transaction_version,
            port_base=request.port_base,
            settings=settings,
            ephemeral=request.ephemeral,
            ttl_ms=request.ttl_ms,
            racks=request.own.racks,
        )
        return _item(Found(start_real_kafka(order, callbacks), running=True))
    if request.kafka is not None:
        raise UsageError("--kafka-version is for --engine apache.", "A sandbox emulates a release.", "Use --emulate.")
    return _item(Found(manage.start(_spec(request, data_dir, settings)), running=True))


def stop_sandboxes(name: str | None = DEFAULT_NAME) -> tuple[Stopped, ...]:
    """Stop one sandbox, or all of this user: exactly the processes that were started.

    Args:
        name: The name of one; None for all.
    """
    one = None if name is None else manage.find(name)
    return tuple(map(_stop, manage.find_all() if name is None else [one] if one else []))


def list_sandboxes() -> tuple[SandboxItem, ...]:
    """Return the sandboxes of this user, also those whose process is gone."""
    return tuple(map(_item, manage.find_all()))


def inspect_sandbox(name: str = DEFAULT_NAME) -> SandboxItem:
    """Return a running sandbox with what its process reports of the cluster.

    Raises:
        EosctlError: No such sandbox runs, or it does not answer.
    """
    sandbox = manage.require(name)
    return _item(Found(sandbox, running=True), manage.send_command(sandbox, "status"))


def require_sandbox(name: str | None = None) -> RunningSandbox:
    """Return a running sandbox.

    Args:
        name: Its name; None stands for the only one that is running, else for the default one.

    Raises:
        UsageError: No such sandbox is running.
    """
    if name is None:
        running = [found.sandbox for found in manage.find_all() if found.running]
        if len(running) == 1:
            return running[0]
    return manage.require(name or DEFAULT_NAME)


def parse_setting(text: str) -> tuple[str, str]:
    """Return name and value of a broker setting; that of a secret is a reference, which is resolved.

    Raises:
        UsageError: The text is not KEY=VALUE, or holds a secret in clear text.
        ConfigFileError: The variable or the file of a secret is missing.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        # The text may be a secret whose name was forgotten: it is not repeated here.
        raise UsageError("A --config is not KEY=VALUE.", "A broker setting has a name and a value.", "Fix it.")
    refuse_plain_secret("--config", name, value)
    # References of other settings are those of Kafka's own providers.
    if has_reference(value) and is_plain_secret(name, "-"):
        value = resolve_references(Given(value, f"--config {name}"), os.environ)
    return name, value


def parse_bugs(texts: Sequence[str], release: str) -> tuple[tuple[str, bool], ...]:
    """Return known bugs of a release by their full names, with whether each is on.

    Raises:
        UsageError: A text is not NAME or NAME=off, or the release does not know the bug.
    """
    switches = map(parse_switch, texts)
    return tuple((find_bug(name, release).name, on) for name, on in switches)


def check_release(emulate: str) -> None:
    """Refuse a release that sandboxes cannot behave as.

    Raises:
        UsageError: The release is not known.
    """
    if emulate not in RELEASES:
        raise UsageError(
            f"--emulate {emulate!r} is not known.",
            f"The sandbox behaves as {', '.join(RELEASES[:-1])}, or {NEWEST}.",
            "Choose one.",
        )


def _spec(request: SandboxRequest, data_dir: Path, settings: tuple[tuple[str, str], ...]) -> SandboxSpec:
    own = request.own
    check_release(own.emulate)
    if own.controllers == 2:
        raise UsageError("--controllers 2 is not possible.", "Two bear no failure: both are a majority.", "Use 1 or 3.")
    if own.processes > request.brokers:
        raise UsageError(
            f"--processes {own.processes} is not possible with --brokers {request.brokers}.",
            "Each process has a broker at least.",
            "Use more brokers or fewer processes.",
        )
    mechanisms = _mechanisms(own.sasl)
    _check_listeners(request, ListenerSecurity(mechanisms, own.tls))
    rules = _authorizer_settings(sasl=bool(mechanisms)) if own.authorizer else ()
    return SandboxSpec(
        name=request.name,
        data_dir=str(data_dir.absolute()),
        brokers=request.brokers,
        controllers=own.controllers,
        log_dirs=own.log_dirs,
        racks=own.racks,
        emulate=own.emulate,
        transaction_version=request.transaction_version,
        port_base=request.port_base,
        settings=(*rules, *settings),
        fast=own.fast,
        ephemeral=request.ephemeral,
        ttl_ms=request.ttl_ms,
        metrics_port=own.metrics_port,
        sasl=mechanisms,
        tls=own.tls,
        users=_users(own.users, sasl=bool(mechanisms)),
        bugs=parse_bugs(own.bugs, own.emulate),
        listen=own.listen,
        advertise=own.advertise,
        inter_broker_listener=own.inter_broker_listener,
        processes=own.processes,
    )


def _check_listeners(request: SandboxRequest, security: ListenerSecurity) -> None:
    """Refuse addresses that no client can use, and brokers that all machines can reach without a confirmation.

    Raises:
        UsageError: An address is malformed, or it needs another option.
    """
    own = request.own
    planned = plan_listeners(own.listen, own.advertise, security.protocol.name, request.port_base)
    names = [listener.name for listener in planned]
    if own.inter_broker_listener is not None and own.inter_broker_listener not in names:
        raise UsageError(
            f"--inter-broker-listener {own.inter_broker_listener!r} is not a listener.",
            f"The brokers bind {', '.join(names)}.",
            "Name one of them.",
        )
    is_secure = own.tls and bool(security.mechanisms)
    opened = [listener.address for listener in planned if not listener.is_loopback]
    if opened and not is_secure and not own.insecure:
        raise UsageError(
            f"--listen {opened[0]} opens the brokers to other machines.",
            "They would serve every client there, without encryption or a login.",
            "Add --tls and --sasl, or --insecure if only trusted clients can connect.",
        )


def _item(found: Found, cluster: dict[str, Any] | None = None) -> SandboxItem:
    sandbox = found.sandbox
    spec = sandbox.spec
    client_file = client_file_of(spec)
    return SandboxItem(
        name=sandbox.name,
        running=found.running,
        bootstrap=sandbox.bootstrap,
        broker_count=spec.brokers,
        emulate=spec.emulate,
        kafka=spec.kafka,
        transaction_version=spec.transaction_version,
        pid=sandbox.pid,
        started_at_ms=sandbox.started_at_ms,
        data_dir=sandbox.data_dir,
        log_file=sandbox.log_file,
        logs_dir=str(paths.logs_dir(Path(sandbox.data_dir))),
        metrics_port=spec.metrics_port,
        ephemeral=spec.ephemeral,
        settings={name: setting_text(name, value) for name, value in spec.settings},
        security_protocol=spec.security.protocol.name,
        client_config=None if client_file is None else str(client_file),
        cluster=cluster,
    )


def _stop(found: Found) -> Stopped:
    sandbox = found.sandbox
    how = stop_real_kafka(found) if sandbox.spec.kafka else manage.stop(sandbox)
    left = files_left(Path(sandbox.data_dir)) if sandbox.spec.ephemeral else ()
    return Stopped(sandbox.name, how, sandbox.data_dir, tuple(map(str, left)))


def _refuse_own_features(own: OwnFeatures) -> None:
    usual = OwnFeatures()
    given = [_OPTIONS.get(name, name) for name in own._fields if getattr(own, name) != getattr(usual, name)]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(
            f"{options} cannot be used with --engine apache.",
            "Only the sandbox's own brokers understand it; real ones take settings.",
            "Leave it out, or use --config KEY=VALUE.",
        )


def _mechanisms(names: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(name.upper().replace("_", "-") for name in names))
    for name in chosen:
        if name not in MECHANISMS:
            raise UsageError(
                f"--sasl {name.lower()} is not known.",
                "The sandbox has " + ", ".join(mechanism.lower() for mechanism in MECHANISMS) + ".",
                "Choose one of them.",
            )
    return chosen


def _users(names: Sequence[str], *, sasl: bool) -> tuple[str, ...]:
    for name in names:
        if not _USER.fullmatch(name) or name == "client":
            raise UsageError(
                f"--user {name!r} cannot be a user of a sandbox.",
                "A name has up to 64 letters, digits, dots, dashes and underscores; client names the ready file.",
                "Choose another name.",
            )
    if names and not sasl:
        raise UsageError(
            "--user needs --sasl.", "Without SASL every client is User:ANONYMOUS.", "Add --sasl scram-sha-512."
        )
    return tuple(dict.fromkeys((ADMIN_USER, *names)))


def _authorizer_settings(*, sasl: bool) -> tuple[tuple[str, str], ...]:
    """Return the broker settings of an authorizer; without a login what no rule closes stays open."""
    settings = (("authorizer.class.name", STANDARD_AUTHORIZER), ("super.users", f"User:{ADMIN_USER}"))
    return settings if sasl else (*settings, ("allow.everyone.if.no.acl.found", "true"))
