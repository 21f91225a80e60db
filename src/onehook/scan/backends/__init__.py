"""The scanners, one module each; see Backend in onehook.scan.model. What each sends and reads is from its vendor's public API reference."""
