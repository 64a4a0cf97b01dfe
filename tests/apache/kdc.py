"""A Kerberos KDC of MIT on loopback, with keytabs of its principals."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST

REALM: Final = "EOSCTL.TEST"
_PATH: Final = f"{os.environ['PATH']}:/usr/sbin"
_WAIT_S: Final = 60


class Kdc(NamedTuple):
    """A running KDC: the variables that name it to libraries, and its folder of keytabs."""

    environment: dict[str, str]
    folder: Path

    def keytab(self, principal: str) -> Path:
        """Create a principal, and return a file with its key."""
        file = self.folder / f"{principal.replace('/', '_')}.keytab"
        for command in (f"addprinc -randkey {principal}", f"ktadd -k {file} {principal}"):
            self._run("kadmin.local", "-q", command)
        return file

    def _run(self, *command: str) -> None:
        run_tool(self.environment, *command)


def run_tool(environment: dict[str, str], *command: str) -> None:
    """Run a tool of MIT Kerberos; skip the test where it is missing."""
    program = shutil.which(command[0], path=_PATH)
    if program is None:
        pytest.skip(f"{command[0]} is missing (Debian: krb5-admin-server)")
    done = subprocess.run(
        [program, *command[1:]],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_WAIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def running_kdc(folder: Path) -> Iterator[Kdc]:
    """Run a KDC with an empty database."""
    (port,) = free_ports(1, random.Random())
    (folder / "krb5.conf").write_text(
        f"[libdefaults]\n default_realm = {REALM}\n dns_canonicalize_hostname = false\n rdns = false\n"
        f" udp_preference_limit = 1\n[realms]\n {REALM} = {{\n  kdc = {HOST}:{port}\n }}\n"
    )
    (folder / "kdc.conf").write_text(
        f'[kdcdefaults]\n kdc_ports = ""\n kdc_tcp_ports = {port}\n[realms]\n {REALM} = {{\n'
        f"  database_name = {folder}/principal\n  key_stash_file = {folder}/stash\n  acl_file = {folder}/acl\n"
        f"  kdc_listen = {HOST}:{port}\n  kdc_tcp_listen = {HOST}:{port}\n }}\n"
        f"[logging]\n kdc = FILE:{folder}/kdc.log\n"
    )
    environment = {"KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
    run_tool(environment, "kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
    program = shutil.which("krb5kdc", path=_PATH)
    if program is None:
        pytest.skip("krb5kdc is missing (Debian: krb5-kdc)")
    process = subprocess.Popen([program, "-n"], env=os.environ | environment)
    try:
        log = folder / "kdc.log"
        until = time.monotonic() + _WAIT_S
        while "commencing operation" not in (log.read_text() if log.exists() else ""):
            assert process.poll() is None, "krb5kdc ended"
            assert time.monotonic() < until, "krb5kdc does not start"
            time.sleep(0.05)
        yield Kdc(environment, folder)
    finally:
        process.terminate()
        process.wait()
