"""Applications with confluent-kafka, each one file that stands alone: copy them, read them, break them."""
