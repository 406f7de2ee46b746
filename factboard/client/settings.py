"""Which site and which token a command uses.

The site comes from --site, FACTBOARD_SITE or the configuration file; the token from --token-file,
FACTBOARD_TOKEN or the configuration file, whose token is for the site named in that file only.
"""

import os
import stat
import tomllib
from argparse import ArgumentParser, Namespace, _ArgumentGroup
from pathlib import Path

from scoring.offline.terminal import BadInput

from .api import Client

SITE, TOKEN = "FACTBOARD_SITE", "FACTBOARD_TOKEN"


def config_path() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "factboard" / "config.toml"


def add_site_arguments(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument("--site", metavar="URL", help=f"URL of the site (default: ${SITE})")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with your API token (default: ${TOKEN})",
    )


def open_client(args: Namespace) -> Client:
    """The client that the arguments and the environment name. Raises BadInput and SiteError."""
    config = _config(config_path())
    site = args.site or os.environ.get(SITE, "") or config.get("site", "")
    if not site:
        raise BadInput(f"Specify the site with --site URL or the environment variable {SITE}.")
    return Client(site, _token(args.token_file, site, config))


def _token(file: Path | None, site: str, config: dict[str, str]) -> str:
    if file is not None:
        return _text(file).strip()
    if token := os.environ.get(TOKEN, "").strip():
        return token
    return config.get("token", "") if site == config.get("site") else ""


def _config(path: Path) -> dict[str, str]:
    """The configuration file; empty if there is none. Its messages never quote its content."""
    if not path.exists():
        return {}
    text = _text(path)
    try:
        config = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise BadInput([f"{path}: is not valid TOML"]) from None
    for name in ("site", "token"):
        if not isinstance(config.get(name, ""), str):
            raise BadInput([f"{path}: {name} must be a string"])
    if config.get("token") and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise BadInput(
            [f"{path}: other users can read the token in this file; run chmod 600 {path}"]
        )
    return {name: config[name] for name in ("site", "token") if name in config}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError:
        raise BadInput([f"{path}: is not UTF-8"]) from None
