"""The secret: never shown, found or made in the right order, and the streams drawn from it."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import pickle
import secrets
import shlex
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from nes_spark import doctor
from nes_spark.config import Config, SeedConfig
from nes_spark.errors import ConfigError, LedgerError, NesError
from nes_spark.swapping import (
    Secret,
    derive_seed,
    load_secret,
    secret_of_release,
    seed_fingerprint,
)
from nes_spark.swapping.seeds import MAKE_SEED, ReadAhead, sealed_folder, strength_of
from tests.jobs import seed_named

VALUE = "a-very-secret-seed"
FROM_FILE, FROM_ENVIRONMENT = seed_named("file"), seed_named("environment")
PINNED = [17576150742349869320, 2455448701748429021, 4722876370963016450]


@pytest.fixture(autouse=True)
def no_seed_in_the_environment(monkeypatch):
    monkeypatch.delenv("NES_SPARK_SEED", raising=False)


def test_the_value_never_shows(caplog):
    secret = Secret(VALUE)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>60}", "%s" % secret]  # noqa: UP031
    with caplog.at_level(logging.INFO):
        logging.getLogger("x").info("seed %s", secret)
    assert all(VALUE not in text for text in [*shown, caplog.text])
    assert all(secret.fingerprint() in text for text in shown)


def test_it_survives_pickling_with_its_origin():
    secret = pickle.loads(pickle.dumps(Secret(VALUE, "file")))
    assert secret == VALUE.encode() and secret.origin == "file" and isinstance(secret, Secret)


def test_numbers_text_and_bytes_are_one_seed():
    assert Secret(7) == Secret("7") == Secret(b"7")
    assert Secret("x" * 1000).fingerprint() != Secret("x" * 1001).fingerprint()


@pytest.mark.parametrize("wrong", [None, 1.5, True, ["x"]])
def test_other_types_are_refused_without_quoting_them(wrong):
    with pytest.raises(TypeError, match="must be bytes, a string or an integer"):
        Secret(wrong)


def test_an_empty_seed_is_refused():
    with pytest.raises(ValueError, match="must not be empty"):
        Secret("")


def test_fingerprints_tell_seeds_apart_and_are_stable():
    assert seed_fingerprint(b"12345678") == Secret("12345678").fingerprint()
    assert seed_fingerprint(b"12345678") != seed_fingerprint(b"12345679")
    assert len(seed_fingerprint(b"12345678")) == 16


def test_parts_are_delimited():
    secret = Secret(VALUE)
    assert secret.digest("ab", "c") != secret.digest("a", "bc")
    assert secret.digest("ab") != secret.digest("ab", "")
    assert derive_seed(secret, "mixture") != derive_seed(secret, "lsa")
    assert 0 <= derive_seed(secret, "mixture") < 2**63


def test_streams_do_not_depend_on_the_version_of_numpy():
    # Philox is a published generator; these words pin the way from secret and ids to it.
    words = Secret("pinned-seed").stream("swap", "s", "J", 0, 1, "doc#00000").raw(3)
    assert words.tolist() == PINNED


@given(
    bound=st.integers(1, 300),
    size=st.integers(1, 70),
    block=st.integers(1, 500),
    turns=st.integers(1, 12),
    other=st.integers(1, 1000),
)
def test_words_that_are_read_ahead_are_those_of_the_stream(bound, size, block, turns, other):
    plain, ahead = Secret(1).stream("x"), ReadAhead(Secret(1).stream("x"), block)
    lists = ahead.lists_below(bound, size)
    for _ in range(turns):
        assert next(lists) == plain.below(np.full(size, bound)).tolist()
        # another draw in between takes the words that follow
        assert ahead.below(np.array([other])) == plain.below(np.array([other]))


def test_draws_have_their_distributions():
    stream = Secret(3).stream("x")
    assert kstest(stream.uniform(4000), "uniform").pvalue > 1e-3
    assert kstest(stream.exponential(4000), "expon").pvalue > 1e-3
    for bound in (1, 2, 3, 5, 7, 8):
        counts = np.bincount(stream.below(np.full(4000, bound)), minlength=bound)
        assert len(counts) == bound
        assert bound == 1 or chisquare(counts).pvalue > 1e-3
    mixed = stream.below(np.array([1, 10**12, 2] * 500))
    assert mixed.reshape(-1, 3).max(axis=0).tolist()[0] == 0
    assert mixed.max() < 10**12 and mixed.max() > 10**11


def test_environment_then_file_then_sealed_then_new(tmp_path, monkeypatch):
    sealed = tmp_path / "run" / "sealed"
    made = load_secret(SeedConfig(), sealed)
    assert made.origin == "generated" and len(made) == 64
    path = sealed / "seed"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o700
    again = load_secret(SeedConfig(), sealed)
    assert again == made and again.origin == "sealed"
    file = tmp_path / "my-seed"
    file.write_text(f"{FROM_FILE}\n")
    assert load_secret(SeedConfig(file=str(file)), sealed) == FROM_FILE.encode()
    monkeypatch.setenv("NES_SPARK_SEED", FROM_ENVIRONMENT)
    found = load_secret(SeedConfig(file=str(file)), sealed)
    assert found == FROM_ENVIRONMENT.encode() and found.origin == "environment"


def test_a_remote_run_needs_a_seed_from_outside(monkeypatch):
    with pytest.raises(ConfigError, match=r"set NES_SPARK_SEED or seed\.file"):
        load_secret(SeedConfig(), None)
    monkeypatch.setenv("NES_SPARK_SEED", FROM_ENVIRONMENT)
    assert load_secret(SeedConfig(), None).origin == "environment"


WEAK = [
    "20200930",
    "2020-09-30",
    "20200930" * 5,
    "20200930202010012020100220201003202010042020",
    "correct horse battery staple of the demo",
    "correcthorsebatterystaple" * 2,
    "CorrectHorseBatteryStapleMore",
    "Password123Password123Password123",
    "0123456789abcdef0123456789abcdef",
    "0123456789abcdeffedcba9876543210",
    "00112233445566778899aabbccddeeff",
    "deadbeef" * 4,
    "f" * 64,
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP",
    "aB" * 20,
    secrets.token_hex(15),
    secrets.token_urlsafe(12),
]


@pytest.mark.parametrize("weak", WEAK)
def test_a_seed_that_can_be_guessed_is_refused_with_the_command_for_a_good_one(
    tmp_path, monkeypatch, weak
):
    monkeypatch.setenv("NES_SPARK_SEED", weak)
    with pytest.raises(ConfigError, match=r"can be guessed.*token_hex\(32\)") as error:
        load_secret(SeedConfig(), tmp_path)
    assert weak not in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "seed").exists()


@settings(derandomize=True)  # one in ten thousand random ones looks like words
@given(st.binary(min_size=16, max_size=64))
@example(bytes.fromhex(FROM_FILE))
def test_what_a_generator_prints_has_its_bits(content):
    condensed = hashlib.blake2b(content, digest_size=32).digest()  # hypothesis likes patterns
    shown = condensed.hex(), base64.urlsafe_b64encode(condensed).decode(), condensed.hex().upper()
    assert [strength_of(text).bits // 8 for text in shown] == [32, 32, 32]
    assert all(strength_of(text).enough for text in shown)


def test_the_command_in_the_message_makes_a_seed_that_is_accepted(tmp_path, monkeypatch):
    program = shlex.split(MAKE_SEED)[-1]
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    monkeypatch.setenv("NES_SPARK_SEED", made.stdout)
    assert len(load_secret(SeedConfig(), tmp_path)) == 64


def test_a_missing_seed_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="no such seed file"):
        load_secret(SeedConfig(file=str(tmp_path / "none")), tmp_path)


def test_a_release_is_only_drawn_again_with_its_own_seed(tmp_path, monkeypatch):
    sealed = tmp_path / "sealed"
    mark = Secret(FROM_FILE).fingerprint()
    with pytest.raises(ConfigError, match=f"fingerprint {mark}; NES_SPARK_SEED is not set"):
        secret_of_release(SeedConfig(), sealed, mark)
    assert not sealed.exists()
    monkeypatch.setenv("NES_SPARK_SEED", FROM_ENVIRONMENT)
    with pytest.raises(ConfigError, match=f"fingerprint {mark}; environment variable .* another"):
        secret_of_release(SeedConfig(), sealed, mark)
    monkeypatch.setenv("NES_SPARK_SEED", FROM_FILE)
    assert secret_of_release(SeedConfig(), sealed, mark) == FROM_FILE.encode()
    monkeypatch.delenv("NES_SPARK_SEED")
    sealed.mkdir()
    (sealed / "seed").write_text(f"{FROM_FILE}\n")
    assert secret_of_release(SeedConfig(), sealed, mark).origin == "sealed"


def test_the_doctor_says_which_seed_is_in_use_and_how_strong_it_is(tmp_path, monkeypatch):
    assert "NES_SPARK_SEED is not set" in doctor._seed(Config())
    monkeypatch.setenv("NES_SPARK_SEED", FROM_ENVIRONMENT)
    said = doctor._seed(Config())
    assert "environment variable NES_SPARK_SEED" in said
    assert "256 random bits" in said
    assert Secret(FROM_ENVIRONMENT).fingerprint() in said
    assert FROM_ENVIRONMENT not in said
    monkeypatch.setenv("NES_SPARK_SEED", "20200930")
    with pytest.raises(NesError, match="can be guessed"):
        doctor._seed(Config())
    for name, seed in (("a", FROM_FILE), ("b", "20200930")):
        (tmp_path / name / "sealed").mkdir(parents=True)
        (tmp_path / name / "sealed" / "seed").write_text(seed)
    assert [finding.ok for finding in doctor._sealed_seeds(tmp_path)] == [True, False]


def test_an_open_folder_is_closed(tmp_path):
    folder = tmp_path / "sealed"
    folder.mkdir(mode=0o755)
    os.chmod(folder, 0o755)
    sealed_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_link_or_file_is_no_sealed_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        with pytest.raises(LedgerError, match="real folder"):
            sealed_folder(tmp_path / name)
