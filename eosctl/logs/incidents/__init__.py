"""Derive incidents from log events: one detector per file, and a judge that removes what another incident explains."""
