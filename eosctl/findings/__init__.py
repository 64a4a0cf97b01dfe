"""The one model of a problem: findings, their diagnosis, grade, grouping, and suppression."""
