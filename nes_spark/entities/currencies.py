"""Currencies of amounts, and how an amount is written in another one."""

from __future__ import annotations

import re

from nes_spark.errors import parameter_error

_CURRENCY_WORDS = {
    "USD": "$ us$ usd dollar dollars",
    "CAD": "c$ ca$ cad",
    "AUD": "a$ aud",
    "HKD": "hk$ hkd",
    "EUR": "€ eur euro euros",
    "GBP": "£ gbp pound pounds",
    "JPY": "¥ jpy yen",
    "CNY": "rmb cny yuan",
    "CHF": "chf francs",
    "MXN": "mxn pesos",
    "INR": "₹ inr rupees",
    "SEK": "sek kronor",
    "NOK": "nok",
    "DKK": "dkk",
    "BRL": "brl r$",
    "cent": "cent cents ¢",
}
#: Currency signs and words -> ISO 4217 code; and ``cent``.
CURRENCIES = {word: code for code, words in _CURRENCY_WORDS.items() for word in words.split()}
#: ISO 4217 codes whose amounts are alike.
MONEY = frozenset(CURRENCIES.values()) - {"cent"}
#: Code -> sign before a figure, and the word behind one, in the singular and in the plural.
_WRITTEN = {
    "USD": ("$", "dollar", "dollars"),
    "CAD": ("C$", "dollar", "dollars"),
    "AUD": ("A$", "dollar", "dollars"),
    "HKD": ("HK$", "dollar", "dollars"),
    "EUR": ("€", "euro", "euros"),
    "GBP": ("£", "pound", "pounds"),
    "JPY": ("¥", "yen", "yen"),
    "CNY": ("RMB ", "yuan", "yuan"),
    "CHF": ("CHF ", "franc", "francs"),
    "MXN": ("MXN ", "peso", "pesos"),
    "INR": ("₹", "rupee", "rupees"),
    "SEK": ("SEK ", "krona", "kronor"),
    "NOK": ("NOK ", "krone", "kroner"),
    "DKK": ("DKK ", "krone", "kroner"),
    "BRL": ("R$", "real", "reais"),
}
#: Currencies that amounts can be written in.
CODES = tuple(_WRITTEN)
#: Pattern of a code as it is written: the ISO 4217 ones, and RMB.
ISO = "|".join([*CODES, "RMB"])
_SIGN = re.compile(
    rf"(?<![\w$])(?:(?:US|CA|C|A|HK|R)?\$|[€£¥₹]|(?:{ISO})(?=[ \d.])) ?(?=[\d.]|[^\W\d])",
    re.IGNORECASE,
)
_WORD = re.compile(
    rf"(?<![^\W\d])(?:(?P<iso>{ISO})|(?:U\.?S\.? )?(?P<word>dollars?|euros?|pounds?(?= sterling)|"
    r"yen|yuan|pesos?|francs?|rupees?|kronor|krona|kroner|krone|reais)(?: sterling)?)(?!\w)",
    re.IGNORECASE,
)
_EURO_CENTS = re.compile(r"\beuro (?=cents?\b)", re.IGNORECASE)


def in_currency(amount: str, code: str) -> str:
    """Return an amount as it is written with another currency; the figures stay.

    Parameters
    ----------
    amount : str
        As it stands in a text; without a currency it stays as it is.
    code : str
        One of :data:`CODES`.

    Raises
    ------
    ValueError
        For another code.

    Examples
    --------
    >>> [in_currency(a, "USD") for a in ("CHF383 million", "18.4 million euros", "€3 to €4", "12%")]
    ['$383 million', '18.4 million dollars', '$3 to $4', '12%']
    >>> in_currency("5 million euro", "USD"), in_currency("7 MXN", "GBP")
    ('5 million dollars', '7 GBP')
    """
    if code not in _WRITTEN:
        raise parameter_error("in_currency", "code", f"one of {list(CODES)}", code)
    sign, one, many = _WRITTEN[code]

    def word(match: re.Match[str]) -> str:
        if match.group("iso"):
            return code
        found = match.group("word").casefold()
        # "5 million euro" is mostly a plural of those who do not say euros
        return one if found == one else many

    cents = _EURO_CENTS.search(amount)
    if not cents:
        amount = _WORD.sub(word, amount)
    elif code != "EUR":
        amount = _EURO_CENTS.sub("", amount)
    return _SIGN.sub(sign, amount)
