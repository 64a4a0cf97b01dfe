"""Reject broker settings of the user that the sandbox does not implement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.errors import UsageError, unknown_name
from eosctl.sandbox.settings import setting_table

_ADDRESSES: Final = "The sandbox chooses its addresses; use --listen, --advertise, and --port-base"
_NODES: Final = "The sandbox numbers its nodes and gives them their roles"
_FILES: Final = "The sandbox places its files; use --data-dir and --log-dirs"
_SECURITY: Final = "The sandbox makes its listeners secure by itself; use --tls, --sasl, and --user"

#: Settings that the sandbox decides, each with its option.
_DECIDED: Final[Mapping[str, str]] = {
    "listeners": _ADDRESSES,
    "advertised.listeners": _ADDRESSES,
    "port": _ADDRESSES,
    "host.name": _ADDRESSES,
    "controller.listener.names": _ADDRESSES,
    "listener.security.protocol.map": _SECURITY,
    "inter.broker.listener.name": _SECURITY,
    "security.inter.broker.protocol": _SECURITY,
    "sasl.enabled.mechanisms": _SECURITY,
    "sasl.mechanism.inter.broker.protocol": _SECURITY,
    "sasl.mechanism.controller.protocol": _SECURITY,
    "node.id": _NODES,
    "broker.id": _NODES,
    "process.roles": _NODES,
    "controller.quorum.voters": f"{_NODES}; use --controllers",
    "controller.quorum.bootstrap.servers": f"{_NODES}; use --controllers",
    "zookeeper.connect": "The sandbox has no ZooKeeper; its metadata is in KRaft",
    "broker.rack": "Use --rack",
    "log.dir": _FILES,
    "log.dirs": _FILES,
    "metadata.log.dir": _FILES,
}
_TIERED_STORAGE: Final = "remote.log.storage.system.enable"
_SECURITY_PREFIXES: Final = ("ssl.keystore.", "ssl.truststore.", "ssl.key.", "listener.name.")


#: Read by the authorizer, not by the broker (StandardAuthorizer).
_OF_PLUGINS: Final = frozenset({"super.users", "allow.everyone.if.no.acl.found"})


def check_user_settings(settings: Mapping[str, str], release: str) -> None:
    """Check the names of the broker settings that a user gave. Values are checked with all others of a node.

    Args:
        settings: By Kafka's names, as in `server.properties`.
        release: The emulated release, such as `4.3`.

    Raises:
        UsageError: The sandbox decides one of them or lacks what it enables, or the release does not have the setting.
    """
    known = {*setting_table(release).broker, *_OF_PLUGINS}
    for name, value in settings.items():
        if name == _TIERED_STORAGE and value.strip().lower() == "true":
            raise UsageError(f"{name} cannot be true.", "The sandbox has no tiered storage.", "Leave it out.")
        decided = _SECURITY if name.startswith(_SECURITY_PREFIXES) else _DECIDED.get(name)
        if decided is not None:
            raise UsageError(f"The broker setting {name} is set by the sandbox itself.", f"{decided}.", "Leave it out.")
        if name not in known:
            listing = "Look one up: eosctl config explain NAME"
            raise unknown_name(f"broker setting in Kafka {release}", name, known, listing)
