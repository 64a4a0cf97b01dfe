"""From all files of a project to one deployment: components, related to each other."""
