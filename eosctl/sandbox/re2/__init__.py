"""RE2, the regular expressions of Kafka's brokers: parsed with RE2's errors, matched in time linear in the text."""
