"""Extract log lines from their carriers: collectors, exports, and JSON."""
