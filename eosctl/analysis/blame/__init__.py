"""Who fenced whom: the owners of a transactional id, and what ended the time of each."""
