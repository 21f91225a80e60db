"""Hooks of other people: patterns that published ones use, each run as its own agent starts it and through onehook on every agent."""
