"""Servers for other programs: tools for assistants (MCP), and a language server for editors (LSP)."""
