"""Use cases as plain functions: the Python API of eosctl, without Typer or rich.

Each module holds one use case: a typed request, a typed result, and a function from one to the other. Import the
function from its module, e.g. ``from eosctl.services.diagnose import DiagnoseRequest, diagnose``.

A service reports progress and remarks through `Callbacks`; the default ones are silent. It raises `EosctlError`, whose
parts say what happened, why, and what to do next. It never prints, and never ends the process.
"""
