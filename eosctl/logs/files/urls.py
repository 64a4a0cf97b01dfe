"""Parse addresses of files: a path, a `file:` URL, or a URL of a file system that only Spark can read."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

# A path object has one slash left of two. One letter is a drive of Windows.
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/+(?P<rest>.*)", re.DOTALL)


def scheme_of(address: str | Path) -> str:
    """Return the scheme of a URL in lower case, such as `s3a`; empty for a path.

    >>> [scheme_of(one) for one in ("s3a://logs/app", "/var/log", "C:/logs", "FILE:///var/log", "a.log")]
    ['s3a', '', '', 'file', '']
    """
    found = _URL.fullmatch(str(address))
    return found["scheme"].lower() if found else ""


def local_path(address: str | Path) -> Path | None:
    """Return the path of a file on this machine; None for a URL of another file system.

    >>> [str(local_path(one)) for one in ("file:///var/log/a%20b.log", "file:/a.log", "a.log", "hdfs://n/a.log")]
    ['/var/log/a b.log', '/a.log', 'a.log', 'None']
    """
    match scheme_of(address):
        case "":
            return Path(address)
        case "file":
            # After two slashes a host would follow; a path object never has three.
            text = re.sub("^[A-Za-z]+:/+", "file:///", str(address))
            return Path(unquote(urlsplit(text).path))
        case _:
            return None


def path_in(address: str) -> PurePosixPath:
    """Return the path that a URL names in its file system: without host, bucket, or container.

    >>> [str(path_in(one)) for one in ("s3a://bucket/logs/a.log", "hdfs:/logs", "dbfs:/Volumes/a", "gs://bucket")]
    ['/logs/a.log', '/logs', '/Volumes/a', '/']
    """
    rest = address.partition(":")[2]
    path = rest[2:].partition("/")[2] if rest.startswith("//") else rest
    return PurePosixPath("/", path.lstrip("/"))
