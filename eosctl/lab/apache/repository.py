"""Fetch the jars of a release from a Maven repository without Maven, one request per jar."""

from __future__ import annotations

import base64
import hashlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from eosctl.errors import UsageError
from eosctl.lab.engine import EngineError
from eosctl.model.loopback import is_loopback
from eosctl.model.secret import Secret
from eosctl.text import count_text

SETTING: Final = "EOSCTL_MAVEN_REPOSITORY"
"""Environment variable with the root of the user's Maven repository."""

MAX_JAR_BYTES: Final = 256 << 20
ATTEMPTS: Final = 3
_CONNECTIONS: Final = 6
_TIMEOUT_S: Final = 30.0
_PAUSE_S: Final = 1.0  # Before the second attempt; doubled for each later one.
_CHUNK_BYTES: Final = 256 << 10
_REFUSED: Final = frozenset({401, 403})
_WORTH_ANOTHER_TRY: Final = frozenset({408, 429, 500, 502, 503, 504})


class Repository(NamedTuple):
    """A repository: the root's address without credentials and trailing slash, and the credentials."""

    url: str
    login: Secret | None = None


def parse_repository(text: str) -> Repository:
    """Parse the user's setting: `https://[USER:PASSWORD@]HOST[:PORT][/PATH]`.

    Raises:
        UsageError: It is not such an address. The message does not contain it, since it may contain a password.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _no_address() from None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))):
        raise _no_address()
    address = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{address}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    if parts.username is None:
        return Repository(url)
    return Repository(url, Secret(f"{unquote(parts.username)}:{unquote(parts.password or '')}"))


def _no_address() -> UsageError:
    return UsageError(
        f"{SETTING} is not the address of a Maven repository.",
        "It begins with https://, or with http:// for a repository on this machine.",
        f"Set it to the root of one: {SETTING}=https://HOST/PATH",
    )


def download(
    repository: Repository, locked: Mapping[str, str], directory: Path, progress: Callable[[str], None]
) -> None:
    """Fetch jars concurrently, and discard those that do not match their checksum.

    Args:
        repository: The source.
        locked: SHA-256 (hex) by path in a Maven repository.
        directory: Receives each jar, named after the last part of its path.
        progress: Receives the progress.

    Raises:
        EngineError: The repository does not respond, lacks a jar, or has a different one.
    """
    stopped = threading.Event()
    with ThreadPoolExecutor(_CONNECTIONS, "jars") as pool:
        jobs = [
            pool.submit(_fetch, repository, place, sha256, directory / PurePosixPath(place).name, stopped)
            for place, sha256 in locked.items()
        ]
        size_bytes = 0
        try:
            for count, job in enumerate(as_completed(jobs), 1):
                size_bytes += job.result()
                progress(f"{count} of {count_text(len(jobs), 'jar')}, {size_bytes / (1 << 20):.0f} MiB")
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _fetch(repository: Repository, place: str, sha256: str, target: Path, stopped: threading.Event) -> int:
    """Fetch a jar and return its size; retry after network and server errors."""
    url = f"{repository.url}/{quote(place)}"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            size_bytes, found = _receive(url, repository.login, target, stopped)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in _WORTH_ANOTHER_TRY or attempt == ATTEMPTS or stopped.is_set():
                raise _refusal(repository, place, error) from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS or stopped.is_set():
                raise EngineError(
                    f"{url} could not be fetched.",
                    str(getattr(error, "reason", None) or error),
                    f"Check the network and {SETTING}, then try again.",
                ) from error
        else:
            break
        stopped.wait(_PAUSE_S * 2 ** (attempt - 1))
    if found != sha256:
        raise EngineError(
            f"{url} is not the jar that the lab was tested with.",
            f"Its SHA-256 is {found}, that of the tested one {sha256}.",
            f"Check what {SETTING} names; a repository must not change a release.",
        )
    return size_bytes


def _receive(url: str, login: Secret | None, target: Path, stopped: threading.Event) -> tuple[int, str]:
    request = urllib.request.Request(url)
    if login is not None:
        encoded = base64.b64encode(login.reveal().encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {encoded}")  # Send credentials to no other host.
    digest, size_bytes = hashlib.sha256(), 0
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer, target.open("wb") as file:
        while chunk := answer.read(_CHUNK_BYTES):
            size_bytes += len(chunk)
            if size_bytes > MAX_JAR_BYTES:
                raise OSError(f"it is larger than {MAX_JAR_BYTES >> 20} MiB")
            if stopped.is_set():
                raise OSError("the others are given up")
            digest.update(chunk)
            file.write(chunk)
        if answer.length:  # The bytes that http.client still expects.
            raise OSError(f"the answer ended {answer.length} bytes early")
    return size_bytes, digest.hexdigest()


def _refusal(repository: Repository, place: str, error: urllib.error.HTTPError) -> EngineError:
    url, status = f"{repository.url}/{place}", f"HTTP status {error.code} {error.reason}"
    if error.code == http.client.NOT_FOUND:
        return EngineError(
            f"There is no {url}.",
            status,
            f"Check that {SETTING} names the root of a repository that holds this release.",
        )
    if error.code in _REFUSED:
        wants = "It wants credentials" if repository.login is None else "It refuses these credentials"
        return EngineError(
            f"{repository.url} does not give out its jars.",
            f"{wants} ({status}).",
            f"Put them into the address: {SETTING}=https://USER:PASSWORD@HOST/PATH",
        )
    return EngineError(f"{url} could not be fetched.", status, "Try again later.")
