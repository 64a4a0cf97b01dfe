"""Tests of the command line run the program as those of the commands do: away from the user's own files."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(own_home: Path) -> Path:
    """Keep the user's files out of all of these tests."""
    return own_home
