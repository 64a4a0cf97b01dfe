"""From a record to its category and fields, by the catalog."""
