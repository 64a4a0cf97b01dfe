"""Environment variables of the image `apache/kafka`, as the specification of a sandbox.

`KAFKA_` and a broker setting in upper case name a property: `_` stands for a dot, `__` for an underscore, and `___` for
a dash. Every variable is used, refused, or named as without effect.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.sandbox.process.listeners import ANY_ADDRESS
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.security.protocol import SecurityProtocol
from eosctl.sandbox.settings import setting_table

PREFIX: Final = "KAFKA_"
CLUSTER_ID: Final = "CLUSTER_ID"
SERVER_PROPERTIES: Final = "server.properties"
NODE_ID: Final = "1"
DEFAULT_LISTENERS: Final = "PLAINTEXT://:9092,CONTROLLER://:9093"
DEFAULT_ADVERTISED: Final = "PLAINTEXT://localhost:9092"
_ROLES: Final = frozenset({"broker", "controller"})
_PLAINTEXT: Final = SecurityProtocol.PLAINTEXT.name
#: Of the JVM and of Kafka's scripts.
_OF_SCRIPTS: Final = re.compile(
    r"KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|GC_LOG_OPTS|JMX_.*|(TOOLS_)?LOG4J_.*|VERSION|HOME|DEBUG|CLUSTERS?_.*)"
)
#: Settings of places and roles, which are read here or have one possible value.
_PLACES: Final = frozenset(
    {
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "security.inter.broker.protocol",
        "controller.listener.names",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "process.roles",
        "node.id",
        "broker.id",
        "log.dirs",
        "log.dir",
        "metadata.log.dir",
        "broker.rack",
    }
)
_SECURITY: Final = ("ssl.", "sasl.", "listener.name.")


class ImagePlan(NamedTuple):
    """A sandbox, and a line for each variable that has no effect."""

    spec: SandboxSpec
    remarks: tuple[str, ...]


def setting_name(variable: str) -> str:
    """Return the broker setting that a variable names.

    >>> setting_name("KAFKA_AUTO_CREATE_TOPICS_ENABLE"), setting_name("KAFKA_A__B___C")
    ('auto.create.topics.enable', 'a_b-c')
    """
    text = variable.removeprefix(PREFIX).lower()
    return text.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def plan_image(
    environment: Mapping[str, str], base: SandboxSpec, properties: Mapping[str, str] | None = None
) -> ImagePlan:
    """Return the sandbox that an environment describes.

    Args:
        environment: All variables; those of other programs are left out.
        base: What the environment does not decide: name, data directory, release.
        properties: The mounted `server.properties`; variables override it.

    Raises:
        UsageError: A variable asks for something that one plaintext node cannot be.
    """
    given = {setting_name(name): name for name in sorted(environment) if name.startswith(PREFIX)}
    variables = {setting: f"{setting} of {SERVER_PROPERTIES}" for setting in properties or ()} | given
    values = {**(properties or {}), **{setting: environment[name] for setting, name in given.items()}}
    _check_roles(values)
    remarks: list[str] = []
    settings: list[tuple[str, str]] = []
    table = setting_table(base.emulate).broker
    for setting, name in variables.items():
        if _OF_SCRIPTS.fullmatch(name):
            remarks.append(f"{name} has no effect: the sandbox has no JVM.")
        elif setting in _PLACES:
            pass
        elif setting.startswith(_SECURITY):
            raise _refused(name, "The brokers of this entry point speak plaintext only")
        elif setting in table:
            settings.append((setting, values[setting]))
        else:
            remarks.append(f"{name} has no effect: Kafka {base.emulate} has no broker setting {setting}.")
    remarks += _place_remarks(values, variables)
    listen, advertise = _listeners(values)
    directories = [one for one in values.get("log.dirs", values.get("log.dir", "")).split(",") if one.strip()]
    return ImagePlan(
        SandboxSpec(
            name=base.name,
            data_dir=base.data_dir,
            brokers=1,
            emulate=base.emulate,
            settings=tuple(settings),
            ephemeral=base.ephemeral,
            log_dirs=max(1, len(directories)),
            racks=(values["broker.rack"],) if "broker.rack" in values else (),
            listen=listen,
            advertise=advertise,
            inter_broker_listener=values.get("inter.broker.listener.name"),
            cluster_id=environment.get(CLUSTER_ID) or None,
        ),
        tuple(remarks),
    )


def _refused(variable: str, why: str) -> UsageError:
    return UsageError(
        f"{variable} cannot be obeyed.", f"{why}.", "Leave it out, or start the sandbox with eosctl sandbox up."
    )


def _check_roles(values: Mapping[str, str]) -> None:
    roles = {role.strip() for role in values.get("process.roles", "broker,controller").split(",")}
    if roles != _ROLES:
        raise _refused("KAFKA_PROCESS_ROLES", "The only node is broker and controller")
    if "zookeeper.connect" in values:
        raise _refused("KAFKA_ZOOKEEPER_CONNECT", "The sandbox keeps its metadata in KRaft")
    if len(values.get("controller.quorum.voters", "").split(",")) > 1:
        raise _refused("KAFKA_CONTROLLER_QUORUM_VOTERS", "The only node is the only voter")


def _place_remarks(values: Mapping[str, str], variables: Mapping[str, str]) -> list[str]:
    numbers = [one for one in ("node.id", "broker.id") if values.get(one, NODE_ID) != NODE_ID]
    files = [one for one in ("log.dirs", "log.dir", "metadata.log.dir") if one in values]
    voters = [one for one in ("controller.quorum.voters", "controller.quorum.bootstrap.servers") if one in values]
    return [
        *(f"{variables[one]}={values[one]} has no effect: the node is {NODE_ID}." for one in numbers),
        *(f"{variables[one]} decides only how many log directories: files are in --data-dir." for one in files),
        *(f"{variables[one]} has no effect: the only node is the only voter." for one in voters),
    ]


def _listeners(values: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    controllers = {name.strip() for name in values.get("controller.listener.names", "CONTROLLER").split(",")}
    text = values.get("advertised.listeners") or ("" if "listeners" in values else DEFAULT_ADVERTISED)
    # As the image: listeners that are only advertised are bound to their port on all addresses.
    derived = re.sub(r"://[^:,]*:", f"://{ANY_ADDRESS}:", text) if values.get("advertised.listeners") else ""
    bound = _split(values.get("listeners") or derived or DEFAULT_LISTENERS, "KAFKA_LISTENERS")
    advertised = _split(text, "KAFKA_ADVERTISED_LISTENERS")
    if missing := [name for name in advertised if name not in bound and name not in controllers]:
        raise _refused("KAFKA_ADVERTISED_LISTENERS", f"KAFKA_LISTENERS lacks the listener {missing[0]}")
    protocols = dict(
        (part.strip().split(":", 1) if ":" in part else [part.strip(), ""])
        for part in values.get("listener.security.protocol.map", "").split(",")
        if part.strip()
    )
    listen = []
    advertise = []
    for name, (host, port) in bound.items():
        if name in controllers:
            continue
        if protocols.get(name, name if name in SecurityProtocol.__members__ else _PLAINTEXT) != _PLAINTEXT:
            raise _refused("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", f"The listener {name} speaks plaintext only")
        address = _address(host)
        listen.append(f"{name}://{address}:{port}" if port != "0" else f"{name}://{address}")
        if name in advertised:
            advertise.append(f"{name}://{advertised[name][0]}:{advertised[name][1]}")
        elif address == ANY_ADDRESS:
            # As Kafka: the name of the machine.
            advertise.append(f"{name}://{socket.gethostname()}")
    return tuple(listen), tuple(advertise)


def _split(text: str, variable: str) -> dict[str, tuple[str, str]]:
    found = {}
    for part in (one.strip() for one in text.split(",")):
        match = re.fullmatch(r"(?P<name>[A-Za-z0-9_.-]+)://(?P<host>[^:/]*):(?P<port>\d{1,5})", part)
        if match is not None:
            found[match["name"]] = (match["host"], match["port"])
        elif part:
            raise UsageError(
                f"{variable} has {part!r}, which is not a listener.",
                "A listener is NAME://HOST:PORT.",
                f"Example: {variable}=PLAINTEXT://0.0.0.0:9092",
            )
    return found


def _address(host: str) -> str:
    """Return the address of this machine that a host names; all of them without a host."""
    if not host:
        return ANY_ADDRESS
    try:
        return str(IPv4Address(host))
    except ValueError:
        pass
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        raise UsageError(
            f"KAFKA_LISTENERS names the host {host!r}, which has no address.",
            error.strerror or str(error),
            "Name an address of this machine, or leave the host out to bind all of them.",
        ) from None
