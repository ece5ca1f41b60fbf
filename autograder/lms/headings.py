"""The headings that class lists have, in the languages of their systems.

A list is read by the English name of a column and written back under its own. Moodle's are those of
its language packs (user profile fields and the grading worksheet), in English, German, French and
Spanish; plain lists have what people write.
"""

from __future__ import annotations

from collections.abc import Iterable

MOODLE = {
    "First name": ("Vorname", "Prénom", "Nombre"),
    "Last name": ("Surname", "Nachname", "Nom", "Nom de famille", "Apellido(s)", "Apellidos"),
    "Full name": ("Vollständiger Name", "Nom complet", "Nombre completo"),
    "Email address": (
        "E-Mail-Adresse",
        "E-Mail",
        "Adresse de courriel",
        "Adresse e-mail",
        "Dirección de correo",
        "Dirección Email",
        "Correo electrónico",
    ),
    "ID number": ("ID-Nummer", "Matrikelnummer", "Numéro d'identification", "Número de ID"),
    "Username": ("Anmeldename", "Nutzername", "Nom d'utilisateur", "Nombre de usuario"),
    "Identifier": ("Identifikator", "Identifiant", "Identificador"),
    "Grade": ("Bewertung", "Note", "Calificación"),
}
PLAIN = {
    "student": ("student_id", "login", "user", "username", "netid", "sid"),
    "name": ("full_name", "full name", "student name"),
    "first_name": ("first name", "firstname", "given name", "vorname", "prénom", "nombre"),
    "last_name": ("last name", "lastname", "surname", "nachname", "nom", "apellidos"),
    "email": ("e-mail", "mail", "email address"),
    "id": ("number", "matriculation", "student number"),
}


def spelt(known: dict[str, tuple[str, ...]], columns: Iterable[str]) -> dict[str, str]:
    """For each known heading that a list has, how it is spelt there."""
    found: dict[str, str] = {}
    theirs = {c.casefold(): c for c in columns}
    for name, others in known.items():
        for spelling in (name, *others):
            if spelling.casefold() in theirs:
                found.setdefault(name, theirs[spelling.casefold()])
    return found
