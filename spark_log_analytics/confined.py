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

_MOST: Final = str(2**31 - 1)
_TABLES_ONLY: Final = {
    # Without paths in place of tables (``text.`/etc/passwd```), and without the environment (``${env:NAME}``).
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    # Plans in full, or what they refuse could stand in a part that was left out.
    "spark.sql.debug.maxToStringFields": _MOST,
    "spark.sql.maxPlanStringLength": str(2**31 - 16),
    "spark.sql.maxMetadataStringLength": _MOST,
}
_REFUSED: Final = re.compile(
    r"ScriptTransformation|PlanWithUnresolvedIdentifier|\b(?:(?:try_)?(?:reflect|java_method)|table_changes_by_path)`?\s*\(",
    re.IGNORECASE,
)
"""What starts a program, calls Java, reads a path, or hides the name of a table function, in the plan of a query."""
_NOT_PLANNED: Final = "Error occurred during query planning"
_NAME: Final = r"(?:\w+|`\w+`)(?:\.(?:\w+|`\w+`))*"
_DESCRIBES: Final = re.compile(
    rf"\s*(?:DESC(?:RIBE)?\s+(?:TABLE\s+)?(?:EXTENDED\s+)?{_NAME}|SHOW\s+(?:TABLES|VIEWS|COLUMNS\s+(?:FROM|IN)\s+{_NAME}))"
    r"\s*;?\s*",
    re.IGNORECASE,
)
_EXPLAINS: Final = re.compile(r"\s*EXPLAIN\s+(?:(?:EXTENDED|FORMATTED|COST|CODEGEN)\s+)?(?=SELECT|WITH)", re.IGNORECASE)


class NotConfinedError(Exception):
    """A query would do more than read tables."""


def confined_query(spark: SparkSession, query: str) -> pa.Table:
    """Run a query of tables and views, explain one, or describe or list tables.

    Raises:
        NotConfinedError: It calls Java, starts a program, or reads a path.
        Exception: Spark refuses it (``job_errors``), also because it is a command, or names a file.
    """
    with changed_settings(spark, _TABLES_ONLY):
        if not _DESCRIBES.fullmatch(query):
            explained = _EXPLAINS.match(query)
            _refuse_more(spark, query[explained.end() :] if explained else query)
        return spark.sql(query).toArrow()


def _refuse_more(spark: SparkSession, query: str) -> None:
    """Refuse all but queries of tables, by Spark's own plan.

    A pattern over the text would have to read comments, literals, and names as Spark does. A plan shows literals, too,
    so that a text that looks like a call is refused.
    """
    # Only a query can stand in parentheses. Spark carries commands out as soon as it has read them.
    inner = query.rstrip().rstrip(";")
    spark.sql(f"SELECT * FROM (\n{inner}\n) LIMIT 0").schema  # noqa: B018, S608 - analyzes the user's own query
    plan = spark.sql(f"EXPLAIN EXTENDED\n{inner}").collect()[0][0]
    if _NOT_PLANNED in plan or _REFUSED.search(plan):
        raise NotConfinedError
