"""Rules over the settings of brokers and applications, one a file."""
