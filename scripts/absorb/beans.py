"""Write the beans that running brokers and clients register: `eosctl/knowledge/beans.tsv`.

    python -m scripts.absorb.beans [RELEASE...]

Runs a broker of each release (of all that the lab has, without any) with a transactional producer, a consumer, an admin
client, and a Streams application, about 30 s each, and merges what they register into the table. Java 17 is needed.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.knowledge.beans import COLUMNS, TABLE, Bean, bean_pattern, load_beans
from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.releases import RELEASES
from scripts.absorb.jars import fetch

PROGRAM: Final = Path(__file__).with_name("Beans.java")
TIMEOUT_S: Final = 600


class Attribute(NamedTuple):
    """An attribute of a bean; variable keys of the bean have no values."""

    component: str
    bean: str
    name: str


def main(releases: list[str]) -> int:
    """Read the releases, merge them into the table, and return the exit status."""
    found = {
        Attribute(bean.component, bean.pattern, name): (set(bean.releases), bean.description)
        for bean in load_beans()
        for name in bean.attributes
    }
    for release in releases or list(RELEASES):
        branch = release.rpartition(".")[0]
        for present, _ in found.values():
            present.discard(branch)
        for attribute, description in read_beans(release).items():
            present, old = found.setdefault(attribute, (set(), description))
            found[attribute] = (present | {branch}, description or old)
        print(f"{release}: {sum(branch in present for present, _ in found.values())} attributes")
    write_beans({attribute: entry for attribute, entry in found.items() if entry[0]})
    return 0


def read_beans(release: str) -> dict[Attribute, str]:
    """Return the attributes that a release registers, with their descriptions."""
    with tempfile.TemporaryDirectory() as scratch, running_broker(release, Path(scratch)) as (bootstrap, port):
        java = find_java(RELEASES[release])
        command = [
            str(java),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            f"{fetch(release)}/*",
            str(PROGRAM),
            bootstrap,
            str(port),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    found: dict[Attribute, str] = {}
    for line in done.stdout.splitlines():
        component, name, attribute, description = line.split("\t")
        found[Attribute(component, bean_pattern(name), attribute)] = description
    return found


@contextmanager
def running_broker(release: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Run a broker whose beans can be read over a port; yield its address and the port."""
    rng = random.Random()
    (port,) = free_ports(1, rng)
    remote = "com.sun.management.jmxremote"
    options = {
        f"{remote}.port": port,
        f"{remote}.rmi.port": port,
        f"{remote}.host": "127.0.0.1",
        f"{remote}.authenticate": "false",
        f"{remote}.ssl": "false",
        "java.rmi.server.hostname": "127.0.0.1",
    }
    config = ApacheConfig(version=release, jvm_options=tuple(f"-D{key}={value}" for key, value in options.items()))
    engine = ApacheNodes(config, folder, rng)
    asyncio.run(engine.up())
    try:
        yield engine.bootstrap, port
    finally:
        asyncio.run(engine.down())


def write_beans(found: Mapping[Attribute, tuple[set[str], str]]) -> None:
    """Write the table: attributes of a bean with the same releases and description share a line."""
    lines: dict[tuple[str, str, tuple[str, ...], str], list[str]] = {}
    for attribute, (releases, description) in sorted(found.items()):
        order = tuple(sorted(releases, key=lambda branch: tuple(map(int, branch.split(".")))))
        lines.setdefault((attribute.component, attribute.bean, order, description), []).append(attribute.name)
    beans = [Bean(key[0], key[1], tuple(names), key[2], key[3]) for key, names in lines.items()]
    TABLE.write_text("".join(f"{line}\n" for line in ["\t".join(COLUMNS), *map(_line, beans)]), "utf-8")


def _line(bean: Bean) -> str:
    return "\t".join(
        (bean.component, bean.pattern, ",".join(bean.attributes), _ranges(bean.releases), bean.description)
    )


def _ranges(releases: Iterable[str]) -> str:
    """Return the releases in words: `3.3-3.6,4.0`."""
    known = [release.rpartition(".")[0] for release in RELEASES]
    places = [known.index(release) for release in releases]
    parts: list[list[int]] = []
    for place in places:
        if parts and parts[-1][-1] == place - 1:
            parts[-1].append(place)
        else:
            parts.append([place])
    return ",".join(known[part[0]] if len(part) == 1 else f"{known[part[0]]}-{known[part[-1]]}" for part in parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
