"""What stories do to clusters: faults, applications and people, each by requests and faults that really happen."""
