"""Log mining with and without Spark: layouts, scanner, classifier, pairing, jobs."""
