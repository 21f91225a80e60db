"""The decision logs of many machines as a table in ClickHouse (docs/fleet.md): its schema, and the counts of `onehook stats` from it."""
