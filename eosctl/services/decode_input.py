"""Find the files for the decoders, and report the parts that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.input_file import open_input
from eosctl.storage.inputs import STDIN, find_files, is_segment_file, spooled
from eosctl.storage.names import Suffix

_HEAD_BYTES: Final = 16
_TEXT: Final = frozenset(range(32, 127)) | {9, 10, 13}


class Source(NamedTuple):
    """A file, and the name that users know."""

    path: Path
    name: str


class StoppedAtDamage(Exception):  # noqa: N818 - requested by the user, not an error
    """Ends the decoding at the first damage."""


class DamageLog:
    """Reports what cannot be read, and counts it."""

    def __init__(self, report: Callable[[str], None], *, strict: bool) -> None:
        """Set the function that reports damage, and whether to stop at the first damage."""
        self.count = 0
        self._report = report
        self._strict = strict

    def add(self, file: str, position: int, what: str) -> None:
        """Report the damage at one position; with `strict`, nothing after it is read."""
        self._add(f"{file}: byte {position}: {what}")

    def add_line(self, file: str, line: int, what: str) -> None:
        """Report the damage at a line of a text, counted from 1."""
        self._add(f"{file}: line {line}: {what}")

    def stop_if_strict(self) -> None:
        """Stop the decoding at the first damage if `strict` is set."""
        if self._strict and self.count:
            raise StoppedAtDamage

    def _add(self, text: str) -> None:
        self.count += 1
        self._report(f"damaged: {text}")


@contextmanager
def sources(arguments: Sequence[str], matches: Callable[[Path], bool]) -> Iterator[list[Source]]:
    """Find the files to read; `-` is standard input.

    Args:
        arguments: Files, directories and patterns.
        matches: Which files of a directory are wanted.

    Raises:
        UsageError: An argument names nothing, or nothing is left to read.
    """
    if "" in arguments:
        # It would be the current directory, which the user did not name.
        raise UsageError(
            "An empty path names no file.", "A variable may not be set.", "Name files, directories, or patterns."
        )
    if list(arguments) == [STDIN]:
        with spooled() as path:
            yield [Source(path, "-")]
        return
    try:
        found = [Source(path, str(path)) for path in find_files(arguments, matches)]
    except FileNotFoundError as error:
        raise UsageError(
            f"{error} does not exist.", "", "Name files, directories, or patterns, or - for stdin."
        ) from None
    for source in found:
        if not source.path.is_file():
            raise UsageError(
                f"{source.name} is not a regular file.",
                "A decoder reads at any position; a pipe or a device has none.",
                "Copy it to a file, or pass it to standard input and name -.",
            )
        _refuse_text(source)
    if not found:
        raise UsageError("No files to decode were found.", "The directories have none of this kind.", "Name a file.")
    yield found


def _refuse_text(source: Source) -> None:
    """Refuse the output of a tool: a segment and its indexes begin with numbers; checkpoints are text.

    Raises:
        UsageError: The file is text.
    """
    if "checkpoint" in source.path.name:
        return
    try:
        with open_input(source.path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return  # reported where the file is read
    if len(head) == _HEAD_BYTES and all(byte in _TEXT for byte in head):
        printed = head.startswith((b"Dumping ", b"baseOffset: ", b"Log starting offset", b"Starting offset"))
        raise UsageError(
            f"{source.name} is text, not a file of Kafka's data directory.",
            "kafka-dump-log.sh printed it." if printed else "Every one of its first bytes is a letter or a blank.",
            "Name the file that the tool has read, e.g. 00000000000000000000.log in the directory of the partition.",
        )


def is_segment(path: Path) -> bool:
    """Return whether a file of a directory is a live `.log`."""
    return is_segment_file(Suffix.LOG)(path)


def is_segment_of(topic: str) -> Callable[[Path], bool]:
    """Return the test for live `.log` files of one topic."""
    return lambda path: is_segment(path) and path.parent.name.rpartition("-")[0] == topic
