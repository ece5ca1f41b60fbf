"""User accounts: one-time tokens, sessions and roles.

A token has 128 random bits, and the instructor sends it to one person. Its first use starts a
session and invalidates the token, so it is useless to anyone who reads the mail later. Only hashes
of tokens and session keys are stored. A browser's session expires after 30 days without use, that
of a program (`autograder submit`) after 120, and one through a JupyterHub after half a day.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Literal

import msgspec
import sqlalchemy as sa

from .. import tables as t
from ..tables import Store

Role = Literal["student", "instructor"]
Kind = Literal["browser", "program", "hub"]
_DAY = 86_400.0
_LIFETIME = {"browser": 30 * _DAY, "program": 120 * _DAY, "hub": _DAY / 2}
_NAME = re.compile(r"\w[\w.@+-]*\Z")
_RENEWAL_INTERVAL = 3600.0  # a session in use is extended at most this often


def is_name(name: str) -> bool:
    """Return True if nbgrader accepts this student name: letters, digits and `.@-_`."""
    return len(name) <= 100 and bool(_NAME.match(name)) and ".." not in name and "+" not in name


class Person(msgspec.Struct, frozen=True):
    """An authenticated user. `key` is the session's secret, from which form keys are derived."""

    name: str
    role: Role
    kind: Kind
    key: str = ""

    @property
    def form_key(self) -> str:
        """Return the secret that a form of this session must contain (against CSRF)."""
        return hmac.new(self.key.encode(), b"form", hashlib.sha256).hexdigest()


class Accounts(Store):
    """Tokens and sessions. All methods block."""

    def create_token(self, name: str, role: Role = "student") -> str:
        """Create a token and revoke an unused token of the same person."""
        secret = secrets.token_urlsafe(16)
        row = {"hash": _hash(secret), "name": name, "role": role, "created": self.clock()}
        self.execute(_unused_tokens(name), t.tokens.insert().values(**row))
        return secret

    def names_with_token(self) -> set[str]:
        """Return the names of all people for whom a token was ever created."""
        return set(self.read(sa.select(t.tokens.c.name)).scalars())

    def revoke(self, name: str) -> None:
        """End a person's sessions and delete their unused tokens."""
        self.execute(t.sessions.delete().where(t.sessions.c.name == name), _unused_tokens(name))

    def redeem(self, token: str, kind: Kind) -> Person | None:
        """Exchange a token for a session; return None if the token is unknown or already used."""
        unused = (t.tokens.c.hash == _hash(token)) & t.tokens.c.used.is_(None)
        use = t.tokens.update().where(unused).values(used=self.clock())
        with self.transaction() as db:
            row = db.execute(use.returning(t.tokens.c.name, t.tokens.c.role)).first()
        return self.start_session(row.name, row.role, kind) if row else None

    def start_session(self, name: str, role: Role, kind: Kind) -> Person:
        secret, now = secrets.token_urlsafe(32), self.clock()
        row = {"hash": _hash(secret), "name": name, "role": role, "kind": kind}
        self.execute(
            t.sessions.delete().where(t.sessions.c.expires < now),
            t.sessions.insert().values(last_used=now, expires=now + _LIFETIME[kind], **row),
        )
        return Person(name, role, kind, secret)

    def find_session(self, secret: str, kind: Kind) -> Person | None:
        """Return the owner of a session of this kind, or None if it expired or never existed."""
        now = self.clock()
        session = (t.sessions.c.hash == _hash(secret)) & (t.sessions.c.kind == kind)
        row = self.read(sa.select(t.sessions).where(session)).first()
        if row is None or row.expires < now:
            return None
        if now - row.last_used > _RENEWAL_INTERVAL:
            renewed = {"last_used": now, "expires": now + _LIFETIME[kind]}
            self.execute(t.sessions.update().where(session).values(**renewed))
        return Person(row.name, row.role, kind, secret)

    def end_session(self, secret: str) -> None:
        self.execute(t.sessions.delete().where(t.sessions.c.hash == _hash(secret)))


def _unused_tokens(name: str) -> sa.Delete:
    return t.tokens.delete().where((t.tokens.c.name == name) & t.tokens.c.used.is_(None))


def _hash(secret: str) -> str:
    # needs no salt, because the secrets are long and random
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
