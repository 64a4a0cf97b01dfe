"""A diagnosis in every format; checks, checklists and access rules beside it."""
