"""Reference data: bugs by release, what settings do, successors of removed ones, words explained, checklists."""
