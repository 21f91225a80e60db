"""Codex CLI: one module for each part that onehook.hosts.interface declares."""
