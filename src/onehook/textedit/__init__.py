"""Edits to JSON and TOML files that keep every byte they do not mean to change."""
