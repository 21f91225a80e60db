"""Recorded events, and how they are run through a policy again."""
