"""Rules on the settings of brokers and applications, one per file, in one package per component."""
