"""The controller: cluster state as a replayed log of KRaft metadata records."""
