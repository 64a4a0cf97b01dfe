"""Record batches: headers, records, control records, compression and the legacy message formats."""
