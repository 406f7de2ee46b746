"""A wrong environment variable stops the start with an error that names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def start_with(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "VAR_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", "import portal.settings"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "short"),
        ("SECRET_KEY_FALLBACKS", f"{'long' * 8},short"),
        ("DEBUG", "perhaps"),
        ("DATABASE_URL", "mysql://somewhere/else"),
        ("UPLOAD_LIMIT_MB", "many"),
        ("UPLOAD_LIMIT_MB", "0"),
        ("JUDGE_PRICE_INPUT", "free"),
        ("JUDGE_PRICE_OUTPUT", "-1"),
        ("JOB_LEASE_SECONDS", "-5"),
        ("ACCOUNT_EMAIL_VERIFICATION", "maybe"),
        ("SIGN_UP", "closed"),
        ("SIGN_UPS_PER_NETWORK", "-1"),
        ("SIGN_UPS_PER_DOMAIN", "few"),
        ("SIGN_UP_DOMAINS", "example.org,@university"),
        ("SIGN_UP_DOMAINS", "*.example.org"),
        ("EMAIL_URL", "pigeon://loft"),
        ("EMAIL_TIMEOUT_SECONDS", "0"),
        ("TRUSTED_PROXIES", "1"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,proxy.internal"),
        ("EMBEDDING_MODEL", "/no/such/folder"),
    ],
)
def test_invalid_values_stop_the_start_by_name(tmp_path: Path, name: str, value: str) -> None:
    result = start_with(tmp_path, **{name: value})
    assert result.returncode != 0
    assert f"ImproperlyConfigured: {name} must" in result.stderr


def test_the_defaults_work_and_create_a_private_key_once(tmp_path: Path) -> None:
    assert start_with(tmp_path).returncode == 0
    key = tmp_path / "secret_key"
    first = key.read_text()
    assert len(first) >= 32
    assert key.stat().st_mode & 0o077 == 0
    assert start_with(tmp_path).returncode == 0
    assert key.read_text() == first
