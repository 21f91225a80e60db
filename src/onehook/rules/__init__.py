"""Rules without code: command patterns, permissions, packs and the file that holds them (docs/rules.md)."""
