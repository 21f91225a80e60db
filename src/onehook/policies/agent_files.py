"""What can switch the hooks of an agent off. Generated from the hosts' own tables: python -m onehook.docgen.registry"""

# fmt: off
PROJECT = (
    ".claude/settings.json", ".claude/settings.local.json", ".cline/plugins", ".codex/config.toml", ".codex/hooks.json",
    ".cursor/hooks.json", ".factory/hooks.json", ".factory/hooks/hooks.json", ".factory/plugins", ".factory/settings.json",
    ".factory/settings.local.json", ".gemini/.env", ".gemini/extensions", ".gemini/settings.json", ".github/copilot/settings.json",
    ".github/copilot/settings.local.json", ".github/hooks", ".grok", ".kilo/kilo.json", ".kilo/kilo.jsonc", ".kilo/opencode.json",
    ".kilo/opencode.jsonc", ".kilo/plugin", ".kilo/plugins", ".kilocode/kilo.json", ".kilocode/kilo.jsonc", ".kilocode/opencode.json",
    ".kilocode/opencode.jsonc", ".kilocode/plugin", ".kilocode/plugins", ".opencode/opencode.json", ".opencode/opencode.jsonc",
    ".opencode/plugin", ".opencode/plugins", ".openhands/hooks.json", ".pi/extensions", ".pi/settings.json", ".qwen/.env",
    ".qwen/extensions", ".qwen/settings.json", ".vibe/hooks.toml", "kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc",
)
HOME = (
    ".claude.json", ".claude/.config.json", ".claude/plugins", ".claude/settings.json", ".cline/data/settings/global-settings.json",
    ".cline/plugins", ".codex/.hook-trust", ".codex/config.toml", ".codex/hooks.json", ".codex/plugins", ".codex/requirements.toml",
    ".config/Cursor/User/settings.json", ".config/kilo/kilo.json", ".config/kilo/kilo.jsonc", ".config/kilo/opencode.json",
    ".config/kilo/opencode.jsonc", ".config/kilo/plugin", ".config/kilo/plugins", ".config/opencode/opencode.json",
    ".config/opencode/opencode.jsonc", ".config/opencode/plugin", ".config/opencode/plugins", ".copilot/config.json", ".copilot/hooks",
    ".copilot/installed-plugins", ".copilot/settings.json", ".cursor/hooks.json", ".cursor/plugins", ".factory/hooks.json",
    ".factory/hooks/hooks.json", ".factory/plugins", ".factory/settings.json", ".factory/settings.local.json", ".gemini/.env",
    ".gemini/extensions", ".gemini/settings.json", ".gemini/trustedFolders.json", ".gemini/trusted_hooks.json", ".grok/config.toml",
    ".grok/disabled-hooks", ".grok/hooks", ".grok/hooks-paths", ".grok/installed-plugins", ".grok/managed_config.toml",
    ".grok/requirements.toml", ".grok/trusted_folders.toml", ".hermes/.env", ".hermes/config.yaml", ".hermes/plugins",
    ".hermes/shell-hooks-allowlist.json", ".kilo/kilo.json", ".kilo/kilo.jsonc", ".kilo/opencode.json", ".kilo/opencode.jsonc",
    ".kilo/plugin", ".kilo/plugins", ".kilocode/kilo.json", ".kilocode/kilo.jsonc", ".kilocode/opencode.json", ".kilocode/opencode.jsonc",
    ".kilocode/plugin", ".kilocode/plugins", ".kimi-code/config.toml", ".kimi-code/plugins", ".opencode/opencode.json",
    ".opencode/opencode.jsonc", ".opencode/plugin", ".opencode/plugins", ".openhands/hooks.json", ".pi/agent/extensions",
    ".pi/agent/settings.json", ".pi/agent/trust.json", ".qwen/.env", ".qwen/extensions", ".qwen/settings.json", ".qwen/trustedFolders.json",
    ".vibe/config.toml", ".vibe/hooks.toml", ".vibe/trusted_folders.toml", "Documents/Cline/Plugins",
    "Library/Application Support/Cursor/User/settings.json",
)
NAMED = {
    "CLAUDE_CONFIG_DIR": (
        ".claude.json", ".config.json", "plugins", "settings.json",
    ),
    "CLINE_DIR": (
        "plugins",
    ),
    "CLINE_GLOBAL_SETTINGS_PATH": (
        "",
    ),
    "CODEX_HOME": (
        ".hook-trust", "config.toml", "hooks.json", "plugins", "requirements.toml",
    ),
    "COPILOT_HOME": (
        "config.json", "hooks", "installed-plugins", "settings.json",
    ),
    "FACTORY_HOME_OVERRIDE": (
        ".factory/hooks.json", ".factory/hooks/hooks.json", ".factory/plugins", ".factory/settings.json", ".factory/settings.local.json",
    ),
    "GEMINI_CLI_HOME": (
        ".gemini/.env", ".gemini/extensions", ".gemini/settings.json", ".gemini/trusted_hooks.json",
    ),
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": (
        "",
    ),
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": (
        "",
    ),
    "GEMINI_CLI_TRUSTED_FOLDERS_PATH": (
        "",
    ),
    "GROK_HOME": (
        "config.toml", "disabled-hooks", "hooks", "hooks-paths", "installed-plugins", "managed_config.toml", "requirements.toml",
        "trusted_folders.toml",
    ),
    "HERMES_HOME": (
        ".env", "config.yaml", "plugins", "shell-hooks-allowlist.json",
    ),
    "KILO_CONFIG_DIR": (
        "kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc", "plugin", "plugins",
    ),
    "KIMI_CODE_HOME": (
        "config.toml", "plugins",
    ),
    "OPENCODE_CONFIG_DIR": (
        "opencode.json", "opencode.jsonc", "plugin", "plugins",
    ),
    "PI_CODING_AGENT_DIR": (
        "extensions", "settings.json", "trust.json",
    ),
    "QWEN_CODE_SYSTEM_DEFAULTS_PATH": (
        "",
    ),
    "QWEN_CODE_SYSTEM_SETTINGS_PATH": (
        "",
    ),
    "QWEN_CODE_TRUSTED_FOLDERS_PATH": (
        "",
    ),
    "QWEN_HOME": (
        ".env", "extensions", "settings.json",
    ),
    "VIBE_HOME": (
        "config.toml", "hooks.toml", "trusted_folders.toml",
    ),
    "XDG_CONFIG_HOME": (
        "kilo/kilo.json", "kilo/kilo.jsonc", "kilo/opencode.json", "kilo/opencode.jsonc", "kilo/plugin", "kilo/plugins",
        "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/plugin", "opencode/plugins",
    ),
}
SYSTEM = {
    "linux": (
        "/etc/claude-code", "/etc/codex", "/etc/cursor", "/etc/factory", "/etc/gemini-cli", "/etc/github-copilot", "/etc/grok", "/etc/kilo",
        "/etc/opencode", "/etc/qwen-code",
    ),
    "darwin": (
        "/Library/Application Support/ClaudeCode", "/Library/Application Support/Cursor", "/Library/Application Support/Factory",
        "/Library/Application Support/GeminiCli", "/Library/Application Support/GitHubCopilot", "/Library/Application Support/QwenCode",
        "/Library/Application Support/kilo", "/Library/Application Support/opencode", "/etc/codex",
        "/etc/github-copilot/policy.d/onehook.json", "/etc/grok",
    ),
    "win32": (
        "C:/Program Files/ClaudeCode", "C:/Program Files/Factory", "C:/Program Files/GitHubCopilot", "C:/ProgramData/Cursor",
        "C:/ProgramData/GitHub/Copilot/policy.d/onehook.json", "C:/ProgramData/OpenAI/Codex", "C:/ProgramData/gemini-cli",
        "C:/ProgramData/kilo", "C:/ProgramData/opencode", "C:/ProgramData/qwen-code",
    ),
}
WORDS = {
    "claude": (
        "config", "plugin", "plugins", "--bare", "--safe-mode", "--settings", "--setting-sources",
    ),
    "cursor": (),
    "cursor-agent": (),
    "codex": (
        "features", "plugin", "--disable hooks", "--disable codex_hooks", "-c*hooks*", "-c *hooks*", "--config*hooks*", "--config *hooks*",
        "--dangerously-bypass*",
    ),
    "gemini": (
        "hooks", "hook", "extensions", "extension",
    ),
    "qwen": (
        "hooks", "extensions", "--bare", "--safe-mode",
    ),
    "copilot": (
        "config", "plugin",
    ),
    "opencode": (
        "plugin", "plug", "--pure",
    ),
    "kilo": (
        "plugin", "plug", "--pure",
    ),
    "kilocode": (
        "plugin", "plug", "--pure",
    ),
    "droid": (
        "plugin", "--settings",
    ),
    "vibe": (
        "--add-dir",
    ),
    "openhands": (),
    "grok": (
        "plugin",
    ),
    "pi": (
        "config", "install", "remove", "uninstall", "-ne", "--no-extensions", "-na", "--no-approve",
    ),
    "hermes": (
        "hooks revoke", "hooks remove", "hooks rm", "--safe-mode", "--ignore-user-config", "config", "plugins", "profile",
    ),
    "kimi": (),
    "cline": (
        "plugin", "config", "--config", "--data-dir",
    ),
}
VARIABLES = (
    "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_SIMPLE", "CLINE_DATA_DIR", "CLINE_DIR", "CLINE_GLOBAL_SETTINGS_PATH",
    "CLINE_JS_RUNTIME_PATH", "CLINE_PLUGIN_IMPORT_TIMEOUT_MS", "GROK_CLAUDE_HOOKS_ENABLED", "HERMES_HOME", "HERMES_IGNORE_USER_CONFIG",
    "HERMES_SAFE_MODE", "KILO_CONFIG", "KILO_CONFIG_CONTENT", "KILO_CONFIG_DIR", "KILO_DISABLE_PROJECT_CONFIG", "KILO_PURE",
    "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_PURE",
    "OPENHANDS_WORK_DIR", "PI_CODING_AGENT_DIR", "QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE", "VIBE_HOME",
)
ASKS = (
    "claude",
)
