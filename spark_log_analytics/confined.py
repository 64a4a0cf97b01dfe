"""Run a user's query so that it can only read the tables of a result.

Spark's SQL can also write directories, read any file by its path, call static methods of Java, and start programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from spark_log_analytics.planning import changed_settings

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_TABLES_ONLY: Final = {"spark.sql.runSQLOnFiles": "false", "spark.sql.variable.substitute": "false"}
"""Without paths in place of tables (``text.`/etc/passwd```), and without the environment (``${env:NAME}``)."""
_COMMENT: Final = r"(?:\s|/\*.*?\*/|--[^\n]*\n)*"
_CALL: Final = re.compile(
    rf"\b(?:try_)?(?:reflect|java_method|table_changes_by_path)`?{_COMMENT}\(", re.IGNORECASE | re.DOTALL
)
_PROGRAM: Final = re.compile(rf"\bUSING{_COMMENT}r?['\"]", re.IGNORECASE | re.DOTALL)
_OF_PATHS: Final = re.compile(rf"{_COMMENT}DESC(?:RIBE)?{_COMMENT}(?:DETAIL|HISTORY)\b", re.IGNORECASE | re.DOTALL)
"""Commands of Delta Lake, which also take a path."""
_READS: Final = re.compile(r"\s*(?:DESC|DESCRIBE|SHOW|EXPLAIN)\b", re.IGNORECASE)


class NotConfinedError(Exception):
    """A query would do more than read tables."""


def confined_query(spark: SparkSession, query: str) -> pa.Table:
    """Run a query of tables and views.

    Raises:
        NotConfinedError: It calls Java, starts a program, or describes a table by its path.
        Exception: Spark refuses it (``job_errors``), also because it is a command, or names a file.
    """
    # Text in a literal that looks so is refused, too: where a literal ends depends on settings of Spark.
    if _CALL.search(query) or _PROGRAM.search(query) or _OF_PATHS.match(query):
        raise NotConfinedError
    with changed_settings(spark, _TABLES_ONLY):
        if not _READS.match(query):
            # Only a query can stand in parentheses. Spark carries commands out as soon as it has read them.
            inner = query.rstrip().rstrip(";")
            spark.sql(f"SELECT * FROM (\n{inner}\n) LIMIT 0").schema  # noqa: B018, S608 - analyzes the user's own query
        return spark.sql(query).toArrow()
