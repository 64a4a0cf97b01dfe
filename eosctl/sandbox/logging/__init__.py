"""What the sandbox's nodes say: Kafka's log files in its layout and, for each release, its words."""
