"""Run recorded protocol scenarios against the sandbox, and compare every response with the recorded one."""
