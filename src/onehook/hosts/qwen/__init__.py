"""Qwen Code: one module for each part that onehook.hosts.interface declares."""
