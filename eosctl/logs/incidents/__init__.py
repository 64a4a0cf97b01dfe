"""Derive incidents from log events: detectors, a judge that makes one incident of each fault, and its steps."""
