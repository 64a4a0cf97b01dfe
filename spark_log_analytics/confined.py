"""Run a user's query so that it can only read the tables of a result, which are temporary views of the session.

Spark's SQL can also read the tables of its catalogs, write directories, read any file by its path, call static methods
of Java, and start programs.
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
_OTHER_TABLE: Final = re.compile(r"\bSubqueryAlias (?:`(?:[^`]|``)*`|[^\s.`]+)\.")
"""A table or view of a catalog. The name of a temporary view has one part, also if it is quoted."""
_TABLE_FUNCTION: Final = re.compile(r"\bUnresolvedTableValuedFunction \[([^\]]*)\]")
_PURE_FUNCTIONS: Final = frozenset({
    "explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode", "posexplode_outer", "range",
    "sql_keywords", "stack", "variant_explode", "variant_explode_outer",
})  # fmt: skip
"""Functions that return tables of their arguments. Platforms have others, which read files and other servers."""
_NOT_PLANNED: Final = "Error occurred during query planning"
_DESCRIBES: Final = re.compile(
    r"\s*(?:DESC(?:RIBE)?\s+(?:TABLE\s+)?(?:EXTENDED\s+)?(?P<described>\w+|`\w+`)|"
    r"SHOW\s+(?:(?P<lists>TABLES|VIEWS)|COLUMNS\s+(?:FROM|IN)\s+(?P<shown>\w+|`\w+`)))\s*;?\s*",
    re.IGNORECASE,
)
_EXPLAINS: Final = re.compile(r"\s*EXPLAIN\s+(?:(?:EXTENDED|FORMATTED|COST|CODEGEN)\s+)?(?=SELECT|WITH)", re.IGNORECASE)


class NotConfinedError(Exception):
    """A query would do more than read tables."""


def confined_query(spark: SparkSession, query: str) -> pa.Table:
    """Run a query of tables and views, explain one, or describe or list tables.

    Raises:
        NotConfinedError: It calls Java, starts a program, or reads a path or a table of a catalog.
        Exception: Spark refuses it (``job_errors``), also because it is a command, or names a file.
    """
    with changed_settings(spark, _TABLES_ONLY):
        describes = _DESCRIBES.fullmatch(query)
        if describes is None:
            explained = _EXPLAINS.match(query)
            _refuse_more(spark, query[explained.end() :] if explained else query)
            return spark.sql(query).toArrow()
        if describes["lists"]:
            return spark.sql(query).where("isTemporary").toArrow()
        if not spark.catalog.getTable(describes["described"] or describes["shown"]).isTemporary:
            raise NotConfinedError
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
    if _NOT_PLANNED in plan or _REFUSED.search(plan) or _OTHER_TABLE.search(plan):
        raise NotConfinedError
    if not _PURE_FUNCTIONS.issuperset(name.strip("` ").lower() for name in _TABLE_FUNCTION.findall(plan)):
        raise NotConfinedError
