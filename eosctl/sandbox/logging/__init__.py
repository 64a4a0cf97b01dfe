"""Log lines of the sandbox's nodes, in the file layout and wording of each Kafka release."""
