"""Manifests: policies made of programs in any language, how these are started, and what they receive."""
