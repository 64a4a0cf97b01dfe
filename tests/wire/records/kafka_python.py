"""kafka-python's batches: another implementation to compare with."""

from __future__ import annotations

import importlib
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its resources in an old way
    _current = importlib.import_module("kafka.record.default_records")
    _legacy = importlib.import_module("kafka.record.legacy_records")

DefaultRecordBatch = _current.DefaultRecordBatch
DefaultRecordBatchBuilder = _current.DefaultRecordBatchBuilder
LegacyRecordBatchBuilder = _legacy.LegacyRecordBatchBuilder
