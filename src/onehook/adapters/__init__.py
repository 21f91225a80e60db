"""Policies inside programs that are built with an agent's SDK: the same handlers and rules, without a process for each event."""
