"""Rules over the settings of brokers and applications, one a file, in rooms by the component that they judge."""
