"""Write and read the tables of a job: directories of Parquet or JSON, or tables of Delta Lake or Apache Iceberg.

Delta and Iceberg need jars that are not part of Spark (``--jars``, ``--packages``). Both replace a table in one
commit, so that a reader sees the old rows or the new ones. Missing jars are reported before the scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from eosctl.model.log_tables import folder_of, schema_of, table_named, table_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OLDEST_SPARK: Final = (3, 5)
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


def address_of(file_format: str, out: str, table: str, run_id: str) -> str:
    """Return where a table is: Delta and Iceberg keep one for all runs, and replace its rows in one commit."""
    if file_format == "iceberg":
        return f"{CATALOG}.{_name(folder_of(table))}"
    return f"{out}/{table_path(table, '' if file_format == 'delta' else run_id)}"


class Sink:
    """Tables of one format below one directory."""

    def __init__(self, spark: SparkSession, file_format: str, out: str) -> None:
        self._spark = spark
        self._format = file_format
        self._out = out

    def check(self) -> None:
        """Check that Spark can run the job, and write the format.

        Raises:
            SinkError: It cannot.
        """
        release = tuple(map(int, self._spark.version.split(".")[:2]))
        if release < OLDEST_SPARK:
            wanted = ".".join(map(str, OLDEST_SPARK))
            raise SinkError(
                f"Spark {self._spark.version} is too old. Use Spark {wanted} or later: point SPARK_HOME at one, or "
                "install eosctl[spark]."
            )
        if self._format == "iceberg":
            self._open_catalog(self._out)
        if self._format not in _PACKAGES:
            # Spark's own type of 96 bits has no time zone for other readers.
            self._spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
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

    def write(self, frame: DataFrame, table: str, run_id: str) -> None:
        """Write a table of a run, and replace what an interrupted write of the same run left."""
        partition = table_named(table).partition
        if self._format == "iceberg":
            writer = frame.writeTo(self._address(self._out, table, run_id)).using("iceberg")
            (writer.partitionedBy(frame[partition]) if partition else writer).createOrReplace()
            return
        files = frame.write.mode("overwrite").format(self._format)
        if self._format == "delta":
            files = files.option("overwriteSchema", "true")
        (files.partitionBy(partition) if partition else files).save(self._address(self._out, table, run_id))

    def append(self, frame: DataFrame, table: str) -> None:
        """Add rows to a table of all runs."""
        address = self._address(self._out, table, "")
        if self._format != "iceberg":
            frame.write.mode("append").format(self._format).save(address)
        elif self._spark.catalog.tableExists(address):
            frame.writeTo(address).append()
        else:
            frame.writeTo(address).using("iceberg").create()

    def read(self, out: str, table: str, run_id: str = "") -> DataFrame:
        """Read a table of a run of a result in the same format, or one of all runs."""
        if self._format == "iceberg":
            self._open_catalog(out)
            rows = self._spark.read.format("iceberg").load(f"{out}/{_name(folder_of(table))}")
        elif self._format == "delta":
            rows = self._spark.read.format("delta").load(self._address(out, table, run_id))
        else:
            reader = self._spark.read.format(self._format).schema(schema_of(table))
            return reader.load(self._address(out, table, run_id))
        return rows.where(rows["run_id"] == run_id) if run_id else rows

    def _address(self, out: str, table: str, run_id: str) -> str:
        return address_of(self._format, out, table, run_id)

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


def _name(folder: str) -> str:
    """Return a folder's name as an SQL identifier."""
    return folder.replace("-", "_")
