"""Read the columns of a partitioned archive from the folders of a file: ``dt=2026-11-26/host=broker-2``."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

_FOLDER: Final = re.compile(r"([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
"""The folder of rows without a value, as Hive and Spark name it."""


def partitions_of(name: str) -> dict[str, str]:
    """Return the columns that a path or URL names, outermost first; of a name that comes twice, the innermost value.

    >>> partitions_of("s3a://logs/dt=2026-11-26/host=broker-2/server.log")
    {'dt': '2026-11-26', 'host': 'broker-2'}
    >>> partitions_of("/logs/a=b.log")
    {}
    """
    found = (_FOLDER.fullmatch(folder) for folder in name.split("/")[:-1])
    values = {one[1]: unquote(one[2]) for one in found if one}
    return {column: value for column, value in values.items() if value != _NO_VALUE}
