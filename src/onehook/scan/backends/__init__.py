"""The scanners, one module each; see Backend in onehook.scan.model. Requests and answers follow the vendors' public API references."""
