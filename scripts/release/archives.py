"""Build wheel and source archive so that the same commit gives the same bytes, wherever and whenever it is built.

    python -m scripts.release.archives [--from DIR] [--to dist]

Times come from SOURCE_DATE_EPOCH, or from the commit that is checked out (https://reproducible-builds.org). setuptools
keeps to that in wheels; in source archives it writes the time at which it made its own files, and the user's name, so
those are packed again. SHA256SUMS and, with `make dist`, the list of parts (CycloneDX) are next to them.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
#: What a build does not need, by patterns of names.
LEFT_OUT = (".*", "__pycache__", "*.egg-info", "build", "dist", "docs", "tests", "demo-output")


def source_date(folder: Path) -> int:
    """Return SOURCE_DATE_EPOCH, or the time of the commit that is checked out."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    return int(shown)


def pack_again(archive: Path, epoch_s: int) -> None:
    """Rewrite a source archive with sorted members, a single time, no user names, and equal permissions."""
    with tarfile.open(archive) as packed:
        members = sorted(packed.getmembers(), key=lambda member: member.name)
        contents = {m.name: packed.extractfile(m).read() for m in members if m.isfile()}  # type: ignore[union-attr]
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as out:
        for member in members:
            same = tarfile.TarInfo(member.name)
            same.type, same.mtime = member.type, epoch_s
            same.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            same.size = len(contents.get(member.name, b""))
            out.addfile(same, io.BytesIO(contents.get(member.name, b"")))
    archive.write_bytes(gzip.compress(raw.getvalue(), mtime=epoch_s))


def build_archives(
    source: Path, target: Path, epoch_s: int, *, kinds: Sequence[str] = ("wheel", "sdist")
) -> list[Path]:
    """Build the archives of a source tree into a folder with their checksums, and return them."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "source"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        for path in (copy, *copy.rglob("*")):  # The archive must not depend on the umask of the checkout.
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch_s)}
        built = Path(work) / "built"
        command = [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            *(f"--{kind}" for kind in kinds),
            "--outdir",
            str(built),
            str(copy),
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, umask=0o022)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        for archive in built.glob("*.tar.gz"):
            pack_again(archive, epoch_s)
        target.mkdir(parents=True, exist_ok=True)
        found = [Path(shutil.copy(path, target)) for path in sorted(built.iterdir())]
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in found)
    (target / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return found


def main() -> int:
    """Build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=ROOT)
    parser.add_argument("--to", dest="target", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    for path in build_archives(options.source, options.target, source_date(options.source)):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
