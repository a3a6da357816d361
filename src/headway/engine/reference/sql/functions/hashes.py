"""Digests and checksums of bytes."""

from __future__ import annotations

import hashlib
import zlib

from headway.engine.reference.sql.typed import Rule, strict

LENGTHS = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def sha2(data: bytes, bits: int) -> str | None:
    """The SHA-2 digest of a length; null for a length there is none of."""
    name = LENGTHS.get(bits)
    return hashlib.new(name, data).hexdigest() if name else None


HASHES: dict[str, Rule] = {
    "crc32": strict("binary -> bigint", zlib.crc32),
    "md5": strict("binary -> string", lambda data: hashlib.md5(data).hexdigest()),
    "sha": strict("binary -> string", lambda data: hashlib.sha1(data).hexdigest()),
    "sha1": strict("binary -> string", lambda data: hashlib.sha1(data).hexdigest()),
    "sha2": strict("binary, int -> string", sha2),
}
