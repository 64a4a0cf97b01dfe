"""What became of the files that a command was given: settings, and what was not read, not understood, or not there."""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.findings.linted import Unreadable
from eosctl.model.deployment import Deployment
from eosctl.model.unjudged import Unseen
from eosctl.text import count_text

MARK: Final = "eosctl:"
"""What a comment for eosctl begins with."""
_NAMED: Final = 3
"""Files that an error names."""


class FilesRead(NamedTuple):
    """What became of the files.

    Attributes:
        deployment: What they configure.
        read: Every file that was read.
        without_settings: Those in which no setting of Kafka was found.
        unreadable: Those that are broken or empty.
        not_understood: Those without settings that are about Kafka: no verdict covers them.
        marked: Those that were read and hold a comment for eosctl.
        unseen: What containers read, files include, or kustomizations build, and is not among the files.
    """

    deployment: Deployment
    read: tuple[str, ...]
    without_settings: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    not_understood: tuple[str, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    marked: tuple[str, ...] = ()

    def require_settings(self) -> None:
        """Raise an error if no file has a setting: what was not judged must never look like a clean result.

        Raises:
            ConfigFileError: No setting of Kafka was recognized in any file.
        """
        if not self.deployment.components:
            named = ", ".join([*self.read[:_NAMED], *(["..."] if len(self.read) > _NAMED else [])])
            raise ConfigFileError(
                f"Nothing was judged: no settings of Kafka were recognized in {count_text(len(self.read), 'file')}."
                if self.read
                else "Nothing was judged: no file could be read.",
                f"Read: {named}." if named else "",
                "Name the files that hold them; config lint --role FILE=ROLE tests how a file is read.",
            )
