"""Facts about Kafka and its clients as data, with their loaders: settings, bugs, terms, metrics, checklists."""
