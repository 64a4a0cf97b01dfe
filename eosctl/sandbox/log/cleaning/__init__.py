"""The log cleaner: compaction of logs by key, as Kafka's LogCleaner does it."""
