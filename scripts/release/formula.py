"""Write a Homebrew formula for a source archive, which installs it into an environment of its own.

    python -m scripts.release.formula dist/eosctl-1.2.3.tar.gz [--url URL] [--to dist/eosctl.rb]

The formula belongs into the `Formula` folder of a tap. URL is the archive's address in a release; without it, the
formula names the archive of this machine. The dependencies are not part of the formula: pip installs them as wheels,
as `confluent-kafka` and others would need their own compilers otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_ARCHIVE: Final = re.compile(r"eosctl-(?P<version>\d[\w.]*)\.tar\.gz")
_FORMULA: Final = """\
class Eosctl < Formula
  desc "{description}"
  homepage "{homepage}"
  url "{url}"
  version "{version}"
  sha256 "{digest}"
  license "Apache-2.0"

  depends_on "python@{python}"

  def install
    system "python{python}", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--only-binary", ":all:", buildpath
    bin.install_symlink libexec/"bin/eosctl"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/eosctl --version")
    (testpath/"app.properties").write "transactional.id=a\\nenable.idempotence=false\\n"
    assert_match "EOS-CFG-", shell_output("#{{bin}}/eosctl config lint app.properties", 3)
  end
end
"""
#: The newest release of Python that every dependency has wheels for, also in the image of Containerfile.
PYTHON: Final = "3.13"


def write_formula(archive: Path, url: str | None = None) -> str:
    """Return the formula of a source archive.

    Args:
        archive: The archive, `eosctl-VERSION.tar.gz`.
        url: Its address; None for the file itself.

    Raises:
        ValueError: The file is not a source archive of eosctl, or the address cannot stand in a string of Ruby.
    """
    named = _ARCHIVE.fullmatch(archive.name)
    address = url or archive.resolve().as_uri()
    if named is None:
        raise ValueError(f"{archive.name} is not a source archive of eosctl")
    if re.search(r'["\\#\s]', address):
        raise ValueError(f"{address!r} is not an address")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    description = project["description"].replace("CLI and diagnostic toolkit", "CLI")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    homepage = address.rpartition("/")[0]
    values = {"version": named["version"], "digest": digest, "python": PYTHON, "homepage": homepage}
    return _FORMULA.format(description=description, url=address, **values)


def main() -> int:
    """Write the formula."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--to", dest="target", type=Path, default=ROOT / "dist" / "eosctl.rb")
    given = parser.parse_args()
    given.target.write_text(write_formula(given.archive, given.url), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
