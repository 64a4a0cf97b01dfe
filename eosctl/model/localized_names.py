"""Names of passwords in other languages than English, as programs and forms write them."""

from __future__ import annotations

import unicodedata
from typing import Final

#: In lower case. A blank stands for a blank, a sign between words, or nothing.
_WORDS: Final = (
    "kennwort", "mot de passe", "contraseña", "contrasenya", "senha", "wachtwoord", "lösenord", "passord",
    "adgangskode", "kodeord", "lykilorð", "salasana", "hasło", "haslo", "heslo", "jelszó", "şifre", "parola", "parolă",
    "slaptažodis", "κωδικός", "пароль", "пасворд", "парола", "лозинка", "密码", "密碼", "口令", "パスワード",
    "비밀번호", "암호", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "گذرواژه", "رمز عبور",
    "geslo", "zaporka", "kata sandi", "кодова фраза", "पासवर्ड", "รหัสผ่าน", "mật khẩu",
)  # fmt: skip


def _letter(character: str) -> str:
    """Return a pattern of a letter: composed, decomposed, or without its mark."""
    if character == " ":
        return "[ ._-]?"
    parts = unicodedata.normalize("NFD", character)
    if character.isascii() or parts == character:
        return character
    mark = "".join(f"{one}?" if unicodedata.combining(one) else one for one in parts)
    return f"(?:{character}|{mark})"


#: Patterns of the names in text in lower case.
LOCALIZED: Final = (
    *("".join(map(_letter, word)) for word in _WORDS),
    "mdp(?![a-z])(?<![a-z]mdp)",
)
#: Every such name that is written in ASCII holds one of these.
ASCII_HINTS: Final = (
    "wort", "trase", "senha", "woord", "senord", "kode", "salasana", "haslo", "heslo", "jelszo", "ifre",
    "parola", "geslo", "zaporka", "sandi", "mdp",
)  # fmt: skip
#: Upper-case letters of the names beyond ASCII, and what `str.lower` makes of them; each is one character.
LOWER: Final = {
    ord(letter.upper()): ord(letter)
    for letter in "".join(_WORDS)
    if not letter.isascii() and len(letter.upper()) == 1 and letter.upper() != letter
} | {ord("İ"): ord("i")}
