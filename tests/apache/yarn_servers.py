"""A YARN on loopback: Hadoop's own resource manager and node manager, in the release that Spark has."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from tests.apache.hadoop_servers import HADOOP, JARS, copy_jars, running, wait_until
from tests.apache.spark_daemons import SHORT_LIVED_JAVA
from tests.free_port import free_port

QUEUE = "logs"
"""A queue next to the default one, so that a test sees whether a job's own choice arrives."""
_SERVER = "org.apache.hadoop.yarn.server"
# The resource manager signs its own certificates, and the jar of the mini cluster lacks what it signs them with.
_SERVER_JARS = (
    f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
    "org.bouncycastle:bcpkix-jdk18on:1.78.1",
)
_LOG = """rootLogger.level=info
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n
"""


@contextmanager
def running_yarn(folder: Path) -> Iterator[Path]:
    """Run a resource manager and a node manager; yield the directory of settings (``HADOOP_CONF_DIR``)."""
    copy_jars(folder, _SERVER_JARS)
    settings = folder / "conf"
    settings.mkdir()
    (settings / "log4j2.properties").write_text(_LOG)
    _write(settings / "core-site.xml", {"hadoop.tmp.dir": str(folder / "tmp")})
    _write(settings / "yarn-site.xml", _yarn_settings(folder))
    _write(settings / "capacity-scheduler.xml", _queues())
    classes = os.pathsep.join([str(settings), f"{JARS}/*", f"{folder / 'jars'}/*"])
    java = ["java", *SHORT_LIVED_JAVA.split(), "-Xmx400m", "-cp", classes]
    with ExitStack() as stack:
        for name, program, words in (
            ("resourcemanager", "ResourceManager", "Transitioned to active state"),
            ("nodemanager", "NodeManager", "Registered with ResourceManager"),
        ):
            output = folder / f"{name}.out"
            process = stack.enter_context(running([*java, f"{_SERVER}.{name}.{program}"], output))
            wait_until(lambda: words in output.read_text(errors="replace"), process, output)  # noqa: B023 - called here
        yield settings


def _yarn_settings(folder: Path) -> dict[str, str]:
    manager, node = "yarn.resourcemanager", "yarn.nodemanager"
    here = {
        f"{manager}.{name}": f"127.0.0.1:{free_port()}"
        for name in ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
    }
    here |= {f"{node}.{name}": "127.0.0.1:0" for name in ("address", "localizer.address", "webapp.address")}
    return here | {
        f"{manager}.hostname": "127.0.0.1",
        f"{node}.hostname": "127.0.0.1",
        f"{node}.local-dirs": str(folder / "local"),
        f"{node}.log-dirs": str(folder / "logs"),
        f"{node}.resource.memory-mb": "4096",
        f"{node}.resource.cpu-vcores": "4",
        # A test's machine may have less memory and disk than the limits want.
        f"{node}.vmem-check-enabled": "false",
        f"{node}.pmem-check-enabled": "false",
        f"{node}.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
        f"{node}.delete.debug-delay-sec": "3600",
        "yarn.scheduler.minimum-allocation-mb": "128",
    }


def _queues() -> dict[str, str]:
    root = "yarn.scheduler.capacity"
    shares = {f"{root}.root.{name}.capacity": "50" for name in ("default", QUEUE)}
    return {f"{root}.root.queues": f"default,{QUEUE}", f"{root}.maximum-am-resource-percent": "1.0", **shares}


def _write(path: Path, settings: Mapping[str, str]) -> None:
    rows = (
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    )
    path.write_text(f"<configuration>{''.join(rows)}</configuration>\n")
