"""Tasks of connectors that ended because of a system outside of Kafka, and those that did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

KILLED = (
    "[2026-03-01 10:{}:00,000] ERROR WorkerSinkTask{{id=mysql-s3-es-sink-0}} Task threw an uncaught and unrecoverable "
    "exception. Task is being killed and will not recover until manually restarted "
    "(org.apache.kafka.connect.runtime.WorkerTask)\n{}\n"
)
CONNECT = "org.apache.kafka.connect.errors.ConnectException: "
HTTP = f"{CONNECT}HTTP request to https://hooks.example/in failed\nCaused by: "
UNREACHED = {
    "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure": "MySQL",
    f"{CONNECT}java.sql.SQLNonTransientConnectionException: x\nCaused by: "
    "org.mariadb.jdbc.internal.util.exceptions.MariaDbSqlException: Socket fail to connect to host:db": "MariaDB",
    "org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the port is correct": "PostgreSQL",
    "org.postgresql.util.PSQLException: FATAL: terminating connection due to administrator command": "PostgreSQL",
    "java.sql.SQLRecoverableException: ORA-12541: Cannot connect. No listener at host db port 1521": "Oracle",
    "com.microsoft.sqlserver.jdbc.SQLServerException: The TCP/IP connection to the host db has failed": "SQL Server",
    "com.ibm.db2.jcc.am.DisconnectNonTransientConnectionException: ERRORCODE=-4499": "Db2",
    "java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after "
    "30000ms": "the database",
    f"{CONNECT}Bulk request failed\nCaused by: org.elasticsearch.ElasticsearchException: x\nCaused by: "
    "java.net.ConnectException: Connection refused": "Elasticsearch",
    f"{CONNECT}x\nCaused by: org.opensearch.client.ResponseException: x\nCaused by: "
    "org.apache.http.NoHttpResponseException: os:9200 failed to respond": "OpenSearch",
    "com.mongodb.MongoTimeoutException: Timed out after 30000 ms while waiting for a server": "MongoDB",
    "com.amazonaws.services.s3.model.AmazonS3Exception: Unable to execute HTTP request: Read timed out": "S3",
    "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request": "an AWS service",
    "redis.clients.jedis.exceptions.JedisConnectionException: Failed connecting to rd:6379": "Redis",
    "net.snowflake.client.jdbc.SnowflakeSQLException: JDBC driver encountered communication error": "Snowflake",
    "com.google.cloud.bigquery.BigQueryException: Connect timed out": "BigQuery",
    f"{HTTP}java.net.SocketTimeoutException: timeout": "the system that it reads from or writes to",
}
OTHERS = (
    "org.postgresql.util.PSQLException: ERROR: duplicate key value violates unique constraint",
    "com.mysql.cj.jdbc.exceptions.MysqlDataTruncation: Data truncation: Data too long for column",
    "org.elasticsearch.ElasticsearchStatusException: mapper_parsing_exception: failed to parse field",
    f"{CONNECT}mysql is not reached: connection refused\nCaused by: org.apache.kafka.common.errors.TimeoutException: x",
    f"{CONNECT}Exiting WorkerSinkTask due to unrecoverable exception.",
)
CAUSE = "external-system-unreachable"


@pytest.mark.parametrize(("thrown", "system"), UNREACHED.items())
def test_a_driver_names_the_system_that_is_not_reached(thrown: str, system: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"worker.log": KILLED.format("00", thrown)})
    assert (found.kind, found.root_cause) == ("connect_task_failed", CAUSE)
    names = (f"does not reach {system}.", f"does not reach the {system} database.")
    assert any(name in found.explanation for name in names)


@pytest.mark.parametrize("thrown", OTHERS)
def test_other_failures_are_not_a_lost_connection(thrown: str, tmp_path: Path) -> None:
    assert CAUSE not in {one.root_cause for one in judge(tmp_path, {"worker.log": KILLED.format("00", thrown)})}


def test_the_first_attempt_is_the_start(tmp_path: Path) -> None:
    thrown = "org.postgresql.util.PSQLException: Connection to db:5432 refused."
    tried = "[2026-03-01 10:{}:00,000] WARN Write of 7 records failed, remainingRetries={} (c.x.SinkTask)\n{}\n"
    text = tried.format("01", 9, thrown) + tried.format("05", 8, thrown) + KILLED.format("09", thrown)
    (found,) = judge(tmp_path, {"worker.log": text})
    assert found.root_cause == CAUSE
    assert found.t_start_ms == 1_772_359_260_000


def test_a_failure_before_a_success_is_another_one(tmp_path: Path) -> None:
    thrown = "org.postgresql.util.PSQLException: Connection to db:5432 refused."
    tried = f"[2026-03-01 10:01:00,000] WARN Write of 7 records failed, remainingRetries=9 (c.x.SinkTask)\n{thrown}\n"
    works = "[2026-03-01 10:05:00,000] INFO Connected to binlog at mysql-bin.7 (i.d.c.m.BinlogReader)\n"
    (found,) = judge(tmp_path, {"worker.log": tried + works + KILLED.format("09", thrown)})
    assert found.t_start_ms == 1_772_359_740_000
