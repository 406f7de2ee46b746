"""Secrets at rest can be decrypted only with the same key."""

from typing import Any

import pytest

from portal.web.fields import Unsealable, seal, unseal

SECRET = "sk-ünïcode-42"
OLD, NEW = "o" * 40, "n" * 40


def test_what_was_sealed_is_read_again_and_never_looks_the_same() -> None:
    first, second = seal(SECRET), seal(SECRET)
    assert unseal(first) == unseal(second) == SECRET
    assert first != second
    assert first.isascii()
    assert "nicode-42" not in first


def test_another_key_reads_nothing(settings: Any) -> None:
    settings.SECRET_KEY = OLD
    token = seal(SECRET)
    settings.SECRET_KEY = NEW
    with pytest.raises(Unsealable) as refused:
        unseal(token)
    assert refused.value.__cause__ is None


def test_a_former_key_still_reads_and_no_longer_seals(settings: Any) -> None:
    settings.SECRET_KEY = OLD
    token = seal(SECRET)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert unseal(token) == SECRET
    anew = seal(SECRET)
    settings.SECRET_KEY_FALLBACKS = []
    assert unseal(anew) == SECRET


@pytest.mark.parametrize("damaged", ["", "nonsense", "gAAAAAB", "ünïcode"])
def test_damage_is_told(damaged: str) -> None:
    with pytest.raises(Unsealable):
        unseal(damaged)


def test_a_changed_letter_is_told() -> None:
    token = seal(SECRET)
    other = "A" if token[40] != "A" else "B"
    with pytest.raises(Unsealable):
        unseal(token[:40] + other + token[41:])


def test_the_secret_key_itself_seals_nothing(settings: Any) -> None:
    """Its keys are derived: a token made with the bare secret is none of ours."""
    import base64

    from cryptography.fernet import Fernet

    settings.SECRET_KEY = OLD
    bare = Fernet(base64.urlsafe_b64encode(OLD.encode()[:32]))
    with pytest.raises(Unsealable):
        unseal(bare.encrypt(b"x").decode())
