"""What a build does before setuptools: it generates the wire codec and, with EOSCTL_COMPILED=1, compiles hot modules.

    pip install .                          generates eosctl/wire/generated (scripts/generate_wire); pure Python
    EOSCTL_COMPILED=1 pip install .        needs a C compiler; mypy and the dependencies are fetched for the build
    make test-compiled                     builds in a scratch copy and runs the tests of those packages there

Which modules: pyproject.toml, [tool.eosctl] compiled-modules. Their Python files are in the wheel too.
"""

import os
import sys
import tomllib
from pathlib import Path

from setuptools import Extension, setup

BUILDING = {"build", "build_py", "build_ext", "bdist_wheel", "editable_wheel", "develop", "install"}
#: Whether all types are right is the business of `make lint`.
OPTIONS = ["--config-file=", "--ignore-missing-imports", "--python-version", f"3.{sys.version_info.minor}"]
ROOT = Path(__file__).resolve().parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: The compiler is a type checker too: it has to see the libraries that the modules use, and their types.
STUBS = [name for name in PROJECT["project"]["optional-dependencies"]["dev"] if name.startswith("types-")]
REQUIRES = ["mypy>=1.14", *STUBS, *PROJECT["project"]["dependencies"]]

#: Compiled functions call each other directly, because they are not replaced from outside, and Python's by address.
POSIX_FLAGS = ["-fvisibility=hidden", "-fno-plt"]


def generate_codec() -> None:
    """Write the wire codec into the source tree, where setuptools, mypyc, and an editable install find it."""
    sys.path.insert(0, str(ROOT))
    from scripts.generate_wire.files import write_files

    write_files()


def compiled_extensions() -> list[Extension]:
    """Translate the hot modules to C."""
    from mypyc.build import mypycify

    files = [name.replace(".", "/") + ".py" for name in PROJECT["tool"]["eosctl"]["compiled-modules"]]
    extensions = mypycify([*OPTIONS, *files], opt_level="3", debug_level="0")
    if os.name == "posix":
        for extension in extensions:
            extension.extra_compile_args += POSIX_FLAGS
    return extensions


# Build front ends first ask what a build needs, then build with it at hand.
is_building = bool(BUILDING & set(sys.argv))
if is_building:
    generate_codec()
if os.environ.get("EOSCTL_COMPILED") == "1":
    if is_building:
        setup(ext_modules=compiled_extensions())
    else:
        setup(setup_requires=REQUIRES)
else:
    setup()
