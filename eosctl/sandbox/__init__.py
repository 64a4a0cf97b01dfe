"""The embedded cluster, server side only."""
