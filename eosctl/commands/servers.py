"""``eosctl mcp`` and ``eosctl lsp``: servers for assistants and editors, on standard input and output."""

from __future__ import annotations

from eosctl.commands.options import ClusterOptions


def mcp(cluster: ClusterOptions) -> None:
    """Serve read-only tools to AI assistants (MCP).

    Speaks the Model Context Protocol on standard input and output: doctor, hanging, explain, lint, logs_report, and
    decode, with the JSON Schemas of eosctl schema. No tool changes anything, and none takes an address or credentials:
    the cluster is the one given here, or a saved profile. Needs the extra: pip install 'eosctl[mcp]'

    Examples:
        eosctl mcp --profile production
        eosctl mcp -b kafka-1:9092 --timeout 20s
    """
    from eosctl.servers.mcp import serve  # the SDK

    serve(cluster.connection)


def lsp() -> None:
    """Serve configuration checks to editors (LSP).

    Speaks the Language Server Protocol on standard input and output. Open files get the findings of config lint, hover
    shows config explain, and code actions make the repairs of config fix. The editor makes every change; eosctl writes
    no file. Needs the extra: pip install 'eosctl[lsp]'

    Examples:
        eosctl lsp
    """
    from eosctl.servers.lsp import serve  # the protocol's library

    serve()
