"""The embedded Kafka cluster: brokers, controllers, and coordinators."""
