"""The decision log (docs/log.md) for people and programs: reading, checking, counting. onehook/logger.py writes it."""
