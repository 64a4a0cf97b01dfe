"""Write the tables of a job: directories of Parquet or JSON, or tables of Delta Lake or Apache Iceberg.

Delta and Iceberg need jars that are not part of Spark (``--jars``, ``--packages``). Both replace a table in one
commit, so that a reader sees the old rows or the new ones. Missing jars are reported before the scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS: Final = ("parquet", "json", "delta", "iceberg")
CATALOG: Final = "eosctl"
"""The catalog of Iceberg's tables: by default the job's own, in the directory of the result."""

_DELTA_SETTINGS: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_PACKAGES: Final = {
    "delta": "io.delta:delta-spark_{spark}_2.13",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-{spark}_2.13",
}
_MISSING: Final = ("DATA_SOURCE_NOT_FOUND", "Cannot find catalog plugin class", "CATALOG_NOT_FOUND")
_OTHER_SPARK: Final = (
    *("NoSuchMethodError", "NoSuchFieldError", "IncompatibleClassChangeError", "NoClassDefFoundError"),
    *("AbstractMethodError", "ClassNotFoundException", "IllegalAccessError"),
)
"""The JVM's errors if a jar was compiled for another release, or the jars that it needs are missing."""


class SinkError(Exception):
    """Spark cannot write a format; the text states the reason and the next step."""


def settings_of_format(file_format: str) -> Mapping[str, str]:
    """Return the settings that a new session needs for a format."""
    return _DELTA_SETTINGS if file_format == "delta" else {}


class Sink:
    """Tables of one format below one directory."""

    def __init__(self, spark: SparkSession, file_format: str, out: str) -> None:
        self._spark = spark
        self._format = file_format
        self._out = out

    def check(self) -> None:
        """Check that Spark can write the format.

        Raises:
            SinkError: Spark cannot write it.
        """
        if self._format == "iceberg":
            self._open_catalog(self._out)
        if self._format not in _PACKAGES:
            return
        try:
            if self._format == "iceberg":
                self._spark.sql(f"SHOW NAMESPACES IN {CATALOG}").collect()
            else:
                self._spark.read.format("delta").load(f"{self._out}/no-such-table")
        except Exception as error:
            # A missing table is not an obstacle. Only the error's text shows a real one, also with Connect.
            if reason := self.obstacle(error):
                raise SinkError(reason) from error

    def write(self, frame: DataFrame, table: str) -> None:
        """Replace a table."""
        if self._format == "iceberg":
            frame.writeTo(f"{CATALOG}.{_name(table)}").using("iceberg").createOrReplace()
            return
        writer = frame.write.mode("overwrite").format(self._format)
        if self._format == "delta":
            writer = writer.option("overwriteSchema", "true")
        writer.save(f"{self._out}/{table}")

    def read(self, out: str, table: str, schema: DataFrame) -> DataFrame:
        """Read a table of an earlier result in the same format, with the columns of ``schema``."""
        if self._format == "iceberg":
            return self._spark.read.format("iceberg").load(f"{out}/{_name(table)}")
        reader = self._spark.read.format(self._format)
        if self._format == "delta":
            return reader.load(f"{out}/{table}")
        return reader.schema(schema.schema).load(f"{out}/{table}")

    def obstacle(self, error: Exception) -> str:
        """Return a description of the problem with jars that an error reports; empty for any other error."""
        if self._format not in _PACKAGES:
            return ""
        text = str(error)
        release = ".".join(self._spark.version.split(".")[:2])
        package = _PACKAGES[self._format].format(spark=release)
        if any(sign in text for sign in _MISSING):
            return (
                f"Spark {self._spark.version} cannot write {self._format}: its jars are missing. Name {package} with "
                "--packages GROUP:ARTIFACT:VERSION, or copy it with its dependencies and name the files with --jars."
            )
        if any(sign in text for sign in _OTHER_SPARK):
            return (
                f"The jars of {self._format} do not fit Spark {self._spark.version}. Use jars for Spark "
                f"{release} ({package}, if it is published) with all their dependencies, run the job on "
                "the Spark release of the jars (SPARK_HOME), or write Parquet."
            )
        if "DELTA_CONFIGURE_SPARK_SESSION" in text:
            wanted = " ".join(f"--conf {name}={value}" for name, value in _DELTA_SETTINGS.items())
            return f"This session was opened without Delta's extension. Open it with {wanted}."
        return ""

    def _open_catalog(self, out: str) -> None:
        name = f"spark.sql.catalog.{CATALOG}"
        if self._spark.conf.get(name, None) is None:
            self._spark.conf.set(name, "org.apache.iceberg.spark.SparkCatalog")
            self._spark.conf.set(f"{name}.type", "hadoop")
            self._spark.conf.set(f"{name}.warehouse", out)


def _name(table: str) -> str:
    """Return a table's name as an SQL identifier."""
    return table.replace("-", "_")
