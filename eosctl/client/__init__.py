"""A conversation with one cluster: raw protocol client, transactional producer, consumer, security."""
