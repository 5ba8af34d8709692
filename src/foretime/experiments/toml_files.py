"""The TOML files that declare experiments."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from foretime.errors import ConfigError


def read_toml(path: Path, missing: str) -> dict[str, Any]:
    """Return what a TOML file says; `missing` is what the `ConfigError` says of one that is not there."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: {missing}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
