"""Checks of a policy before it is live: what will not work, and on which agents. Nothing here is on the hot path."""
