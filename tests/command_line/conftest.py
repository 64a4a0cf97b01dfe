"""Tests of the command line run the program as those of the commands do: away from the user's own files."""

from tests.commands.conftest import own_home

__all__ = ["own_home"]
