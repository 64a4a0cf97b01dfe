"""Pure explanations of evidence: hanging transactions, fencing, lag, blast radius, fsck."""
