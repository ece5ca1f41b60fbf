"""Who somebody is: tokens that are used once, sessions that follow, and what a role may do.

A token is 128 bits of chance that the instructor hands to one person. The first who uses it is
that person, and gets a session; after that it is worth nothing, so a mail that is read by others
later gives nothing away. Of both only a hash is kept. A browser's session ends after 30 days
without use, a program's (`autograder submit`) after 120; one that a JupyterHub vouched for ends
after half a day, and the Hub is asked again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Literal

import msgspec
import sqlalchemy as sa

from ..queue import tables as t
from ..queue.tables import Rows

Role = Literal["student", "instructor"]
Kind = Literal["browser", "program", "hub"]
_DAY = 86_400.0
_LASTS = {"browser": 30 * _DAY, "program": 120 * _DAY, "hub": _DAY / 2}
_NAME = re.compile(r"\w[\w.@+-]*\Z")
_SEEN = 3600.0  # how exactly the last use of a session is known


def is_name(name: str) -> bool:
    """Return whether nbgrader can have a student of this name: letters, digits and `.@+-_`."""
    return len(name) <= 100 and bool(_NAME.match(name)) and ".." not in name and "+" not in name


class Person(msgspec.Struct, frozen=True):
    """Whoever asks. `key` is the secret of the session, from which forms are made safe."""

    name: str
    role: Role
    kind: Kind
    key: str = ""

    @property
    def form_key(self) -> str:
        """What a form of this session holds, and nobody else can know."""
        return hmac.new(self.key.encode(), b"form", hashlib.sha256).hexdigest()


class People(Rows):
    """Tokens and sessions. Methods block."""

    def token(self, name: str, role: Role = "student") -> str:
        """A new token for somebody; one that was not used yet is worth nothing any more."""
        secret = secrets.token_urlsafe(16)
        own = (t.tokens.c.name == name) & t.tokens.c.used.is_(None)
        with self._write() as db:
            db.execute(t.tokens.delete().where(own))
            db.execute(
                t.tokens.insert().values(
                    hash=_hash(secret), name=name, role=role, made=self.clock(), used=None
                )
            )
        return secret

    def has_token(self) -> set[str]:
        """Who has a token, used or not."""
        with self._read() as db:
            return {str(n) for n in db.execute(sa.select(t.tokens.c.name)).scalars()}

    def forget(self, name: str) -> None:
        """End whatever somebody has: sessions, and tokens that were not used."""
        with self._write() as db:
            db.execute(t.sessions.delete().where(t.sessions.c.name == name))
            db.execute(
                t.tokens.delete().where((t.tokens.c.name == name) & t.tokens.c.used.is_(None))
            )

    def enter(self, token: str, kind: Kind) -> Person | None:
        """The person whose token it is, with a session; None if it is used or unknown."""
        this = (t.tokens.c.hash == _hash(token)) & t.tokens.c.used.is_(None)
        with self._write() as db:
            row = db.execute(sa.select(t.tokens).where(this)).mappings().first()
            if row is None:
                return None
            used = t.tokens.update().where(this).values(used=self.clock())
            if not db.execute(used).rowcount:
                return None  # somebody was faster
        return self.session(row["name"], row["role"], kind)

    def session(self, name: str, role: Role, kind: Kind) -> Person:
        secret, now = secrets.token_urlsafe(32), self.clock()
        with self._write() as db:
            db.execute(t.sessions.delete().where(t.sessions.c.ends < now))
            row = {"name": name, "role": role, "kind": kind, "seen": now}
            db.execute(
                t.sessions.insert().values(hash=_hash(secret), ends=now + _LASTS[kind], **row)
            )
        return Person(name, role, kind, secret)

    def known(self, secret: str, kind: Kind) -> Person | None:
        """Whose session of this kind it is; None if it ended or never was."""
        now = self.clock()
        this = (t.sessions.c.hash == _hash(secret)) & (t.sessions.c.kind == kind)
        with self._read() as db:
            row = db.execute(sa.select(t.sessions).where(this)).mappings().first()
        if row is None or row["ends"] < now:
            return None
        if now - row["seen"] > _SEEN:
            with self._write() as db:
                db.execute(
                    t.sessions.update().where(this).values(seen=now, ends=now + _LASTS[kind])
                )
        return Person(row["name"], row["role"], kind, secret)

    def leave(self, secret: str) -> None:
        with self._write() as db:
            db.execute(t.sessions.delete().where(t.sessions.c.hash == _hash(secret)))


def _hash(secret: str) -> str:
    """Of many bits of chance, so that it needs no salt."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
