"""Client quotas: the rate of each client and the time for which it is throttled."""
