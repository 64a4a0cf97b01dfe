"""The security files of a sandbox: passwords, certificates, and client configurations.

The folder `security` of the data directory is created on first use and kept with the data. Only its owner can access
the folder and the files with secrets.
"""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.errors import EosctlError
from eosctl.model.secret import Secret
from eosctl.sandbox.security.protocol import PLAIN, ListenerSecurity
from eosctl.storage.atomic import replace_file
from eosctl.whole_file import whole_file

FOLDER = "security"
AUTHORITY_FILE = "ca.pem"
_IDENTITY_FILE = "broker.pem"
_NAMES_FILE = "names.txt"
_LOCAL_NAMES = ("localhost", "127.0.0.1")
_USERS_FILE = "users.json"
_LOGIN_MODULES = "org.apache.kafka.common.security"


class SecurityMaterial(NamedTuple):
    """The passwords and certificates of a cluster's listeners."""

    passwords: Mapping[str, Secret]
    tls: ssl.SSLContext | None


def client_file(data_dir: Path, user: str | None = None) -> Path:
    """Return the client file of a user; by default of the first user."""
    return data_dir / FOLDER / ("client.properties" if user is None else f"{user}.properties")


def prepare_material(
    data_dir: Path, security: ListenerSecurity, users: Sequence[str], hosts: Sequence[str]
) -> SecurityMaterial:
    """Create or load the passwords of the users and the brokers' certificate, which names `hosts`.

    Raises:
        EosctlError: Certificates need a package that is not installed, or the files cannot be used.
    """
    folder = data_dir / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        passwords = _passwords(folder / _USERS_FILE, users) if security.mechanisms else {}
        return SecurityMaterial(passwords, _tls(folder, hosts) if security.tls else None)
    except (OSError, ValueError) as error:
        raise EosctlError(
            f"The security files in {folder} cannot be used.",
            str(error),
            "Remove that folder to have new passwords and certificates made.",
        ) from error


def _passwords(path: Path, users: Sequence[str]) -> dict[str, Secret]:
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    if not isinstance(known, dict) or not all(isinstance(word, str) for word in known.values()):
        raise ValueError(f"{path.name} does not map users to passwords")
    missing = [user for user in users if user not in known]
    if missing:
        known |= {user: secrets.token_urlsafe(24) for user in missing}
        _write_private(path, json.dumps(known, indent=1))
    return {user: Secret(word) for user, word in known.items()}


def _tls(folder: Path, hosts: Sequence[str]) -> ssl.SSLContext:
    identity, authority, names = folder / _IDENTITY_FILE, folder / AUTHORITY_FILE, folder / _NAMES_FILE
    known = names.read_text().split() if names.exists() else list(_LOCAL_NAMES)
    if not (identity.exists() and authority.exists() and set(hosts) <= set(known)):
        known = list(dict.fromkeys([*known, *hosts]))
        _make_certificates(identity, authority, known)
        names.write_text("\n".join(known))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(identity)
    return context


def _make_certificates(identity: Path, authority: Path, names: Sequence[str]) -> None:
    try:
        import trustme
    except ImportError as error:
        raise EosctlError(
            "Certificates for --tls cannot be made.",
            "The package trustme is not installed.",
            "Install eosctl[tls], or leave --tls out.",
        ) from error
    ca = trustme.CA(organization_name="eosctl sandbox")
    issued = ca.issue_cert(*names, common_name=names[0])
    _write_private(identity, issued.private_key_and_cert_chain_pem.bytes().decode())
    replace_file(authority, ca.cert_pem.bytes())


def write_client_files(data_dir: Path, security: ListenerSecurity, users: Sequence[str], bootstrap: str) -> None:
    """Write a Java client file for every user; the first user's also as `client_file`."""
    material = _passwords(data_dir / FOLDER / _USERS_FILE, users) if security.mechanisms else {}
    folder = data_dir / FOLDER
    for user in users if security.mechanisms else ():
        _write_private(client_file(data_dir, user), _client_text(folder, security, bootstrap, user, material[user]))
    first = users[0] if security.mechanisms else ""
    _write_private(client_file(data_dir), _client_text(folder, security, bootstrap, first, material.get(first)))


def _client_text(folder: Path, security: ListenerSecurity, bootstrap: str, user: str, word: Secret | None) -> str:
    lines = [f"bootstrap.servers={bootstrap}", f"security.protocol={security.protocol.name}"]
    if security.tls:
        lines += ["ssl.truststore.type=PEM", f"ssl.truststore.location={_escaped(str(folder / AUTHORITY_FILE))}"]
    if word is not None:
        mechanism = security.mechanisms[0]
        module = "plain.PlainLoginModule" if mechanism == PLAIN else "scram.ScramLoginModule"
        login = f'{_LOGIN_MODULES}.{module} required username="{user}" password="{word.reveal()}";'
        lines += [f"sasl.mechanism={mechanism}", f"sasl.jaas.config={login}"]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")


def client_variables(data_dir: Path, security: ListenerSecurity, users: Sequence[str]) -> dict[str, str]:
    """Return the environment variables for a program that connects as the first user."""
    if security == ListenerSecurity():
        return {}
    variables = {
        "EOSCTL_COMMAND_CONFIG": str(client_file(data_dir)),
        "KAFKA_CLIENT_CONFIG": str(client_file(data_dir)),
        "KAFKA_SECURITY_PROTOCOL": security.protocol.name,
    }
    if security.tls:
        variables["KAFKA_SSL_CA_LOCATION"] = str(data_dir / FOLDER / AUTHORITY_FILE)
    if security.mechanisms:
        passwords = _passwords(data_dir / FOLDER / _USERS_FILE, users)
        variables |= {
            "KAFKA_SASL_MECHANISM": security.mechanisms[0],
            "KAFKA_SASL_USERNAME": users[0],
            "KAFKA_SASL_PASSWORD": passwords[users[0]].reveal(),
        }
    return variables


def _write_private(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
