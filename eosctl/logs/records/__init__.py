"""From bytes to records, without those that cannot mean anything."""
