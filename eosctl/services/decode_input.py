"""Find the files for the decoders, and report the parts that cannot be read."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import UsageError
from eosctl.input_file import open_input
from eosctl.storage.inputs import STDIN, find_files, is_segment_file, spooled
from eosctl.storage.names import Suffix

_HEAD_BYTES: Final = 512
_BYTE_ORDER_MARKS: Final = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
_LEAST_UTF_16: Final = 8
_BEGINNING: Final = 16
"""A binary file has a zero or another such number among its first bytes; a text may have other signs behind them."""
_EMPTY_NAMED: Final = 3
"""More empty files than this are not named."""
_SIGNS: Final = frozenset("\t\n\r\x1b")
"""What text has next to letters; terminals color it behind an escape."""
_TOOL: Final = ("Dumping ", "baseOffset: ", "Log starting offset", "Starting offset")


class Source(NamedTuple):
    """A file, and the name that users know; with the error of a directory that cannot be listed."""

    path: Path
    name: str
    error: OSError | None = None


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

    def add_unread(self, file: str, error: OSError) -> None:
        """Report a file or a directory that cannot be read."""
        self._add(f"{file}: cannot be read: {error.strerror or error}")

    def remark(self, text: str) -> None:
        """Report a fact that is not damage."""
        self._report(text)

    def stop_if_strict(self) -> None:
        """Stop the decoding at the first damage if `strict` is set."""
        if self._strict and self.count:
            raise StoppedAtDamage

    def _add(self, text: str) -> None:
        self.count += 1
        self._report(f"damaged: {text}")


@contextmanager
def sources(
    arguments: Sequence[str], matches: Callable[[Path], bool], *, is_text: bool = False
) -> Iterator[list[Source]]:
    """Find the files to read; `-` is standard input.

    Args:
        arguments: Files, directories and patterns.
        matches: Which files of a directory are wanted.
        is_text: Whether files of this kind are text, as checkpoints are.

    Raises:
        UsageError: An argument names nothing, nothing is left to read, or a file is text that should not be.
    """
    if "" in arguments:
        # It would be the current directory, which the user did not name.
        raise UsageError(
            "An empty path names no file.", "A variable may not be set.", "Name files, directories, or patterns."
        )
    if list(arguments) == [STDIN]:
        with spooled() as path:
            source = Source(path, "-")
            if not is_text:
                _refuse_text(source)
            yield [source]
        return
    refused: list[Source] = []

    def refuse(error: OSError) -> None:
        refused.append(Source(Path(error.filename), str(error.filename), error))

    try:
        found = [Source(path, str(path)) for path in find_files(arguments, matches, refuse)]
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
        if not is_text:
            _refuse_text(source)
    if refused and not found and refused[0].error is not None:
        raise refused[0].error
    if not found:
        raise UsageError("No files to decode were found.", "The directories have none of this kind.", "Name a file.")
    yield found + refused


def readable(found: Iterable[Source], damage: DamageLog) -> Iterator[Source]:
    """Yield the sources that can be opened, and report the others, so that one does not hide the findings of all.

    A source that is alone is left to its reader, whose error ends the command. Where all are empty, that is remarked:
    Kafka makes such files, and nothing that is decoded from them would show it.
    """
    every = list(found)
    if every and all(source.error is None and _is_empty(source.path) for source in every):
        damage.remark("\n".join(f"{source.name}: empty, nothing to decode" for source in every[:_EMPTY_NAMED]))
    for source in every:
        error = source.error
        if error is None and len(every) > 1:
            try:
                open_input(source.path).close()
            except OSError as refused:
                error = refused
        if error is None:
            yield source
        else:
            damage.add_unread(source.name, error)
            damage.stop_if_strict()


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except OSError:
        return False


def _refuse_text(source: Source) -> None:
    """Refuse the output of a tool, a checkpoint, and other text: the decoders of binary files would call it damaged.

    Raises:
        UsageError: The file is text.
    """
    try:
        with open_input(source.path) as file:
            text = _text_of(file.read(_HEAD_BYTES))
    except OSError:
        return  # reported where the file is read
    if text:
        printed = text.startswith(_TOOL)
        raise UsageError(
            f"{source.name} is text, not a binary file of Kafka's data directory.",
            "kafka-dump-log.sh printed it." if printed else "Every one of its first bytes is a letter or a blank.",
            "Name the file that the tool has read, e.g. 00000000000000000000.log in the directory of the partition.",
        )


def _text_of(head: bytes) -> str:
    """Return the beginning of a file as text; empty for a binary one, whose first numbers hold zeros.

    >>> _text_of(b"0\\n1\\n"), _text_of(b"\\0\\0\\0\\1"), _text_of("Dump".encode("utf-16"))
    ('0\\n1\\n', '', 'Dump')
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")
    if encoding == "utf-8" and len(head) >= _LEAST_UTF_16 and not any(head[1::2]):
        encoding = "utf-16-le"
    # A character may be cut at the end of what was read.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    strange = next((at for at, sign in enumerate(text) if sign not in _SIGNS and not _is_letter(sign)), len(text))
    return text if strange >= min(len(text), _BEGINNING) else ""


def _is_letter(sign: str) -> bool:
    return sign.isprintable() and sign != "\ufffd"


def is_segment(path: Path) -> bool:
    """Return whether a file of a directory is a live `.log`."""
    return is_segment_file(Suffix.LOG)(path)


def is_segment_of(topic: str) -> Callable[[Path], bool]:
    """Return the test for live `.log` files of one topic."""
    return lambda path: is_segment(path) and path.parent.name.rpartition("-")[0] == topic
