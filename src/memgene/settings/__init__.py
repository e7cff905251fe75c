"""`memgene.toml`, environment and arguments as one typed object."""

from memgene.settings.load import environment_names, load_settings
from memgene.settings.model import LLMRoles, LLMSettings, SandboxSettings, Settings

__all__ = [
    "LLMRoles",
    "LLMSettings",
    "SandboxSettings",
    "Settings",
    "environment_names",
    "load_settings",
]
