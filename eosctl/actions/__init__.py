"""Changes to a cluster: plan, re-check, act, verify, audit."""
