"""Manifests: policies that are programs in any language, how they are started and what they are told."""
