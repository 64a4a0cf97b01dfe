"""The build switch: with EOSCTL_COMPILED=1 the hot modules become C extensions (mypyc), else the wheel is pure Python.

    EOSCTL_COMPILED=1 pip install .        needs a C compiler; mypy and the dependencies are fetched for the build
    make test-compiled                     builds in a scratch copy and runs the tests of those rooms there

Which modules: pyproject.toml, [tool.eosctl] compiled-modules. Their Python files are in the wheel too.
"""

import os
import sys
import tomllib
from pathlib import Path

from setuptools import Extension, setup

BUILDING = {"build", "build_ext", "bdist_wheel", "editable_wheel", "develop"}
#: Whether all types are right is the business of `make lint`.
OPTIONS = ["--config-file=", "--ignore-missing-imports", "--python-version", f"3.{sys.version_info.minor}"]
PROJECT = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text(encoding="utf-8"))
#: The compiler is a type checker too: it has to see the libraries that the modules use.
REQUIRES = ["mypy>=1.14", *PROJECT["project"]["dependencies"]]

#: Compiled functions call each other directly, as nobody replaces them from outside, and those of Python by address.
POSIX_FLAGS = ["-fvisibility=hidden", "-fno-plt"]


def compiled_extensions() -> list[Extension]:
    """Translate the hot modules to C."""
    from mypyc.build import mypycify

    files = [name.replace(".", "/") + ".py" for name in PROJECT["tool"]["eosctl"]["compiled-modules"]]
    extensions = mypycify([*OPTIONS, *files], opt_level="3", debug_level="0")
    if os.name == "posix":
        for extension in extensions:
            extension.extra_compile_args += POSIX_FLAGS
    return extensions


if os.environ.get("EOSCTL_COMPILED") == "1":
    # Build front ends first ask what a build needs, then build with it at hand.
    if BUILDING & set(sys.argv):
        setup(ext_modules=compiled_extensions())
    else:
        setup(setup_requires=REQUIRES)
else:
    setup()
