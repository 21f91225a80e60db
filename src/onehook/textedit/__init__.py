"""Edit JSON and TOML text without changing any byte outside the edit."""
