"""Currencies of amounts, and how an amount is written in another one."""

from __future__ import annotations

import re
from decimal import Decimal

from nes_spark.errors import parameter_error

#: Code -> sign before a figure, the word behind one in the singular and in the plural, and what
#: else stands for it in a text, in lower case.
_TABLE: dict[str, tuple[str, str, str, str]] = {
    "USD": ("$", "dollar", "dollars", "us$ usd"),
    "CAD": ("C$", "dollar", "dollars", "ca$ cad"),
    "AUD": ("A$", "dollar", "dollars", "aud"),
    "HKD": ("HK$", "dollar", "dollars", "hkd"),
    "EUR": ("€", "euro", "euros", "eur"),
    "GBP": ("£", "pound", "pounds", "gbp"),
    "JPY": ("¥", "yen", "yen", "jpy"),
    "CNY": ("RMB ", "yuan", "yuan", "rmb cny renminbi"),
    "CHF": ("CHF ", "franc", "francs", ""),
    "MXN": ("MXN ", "peso", "pesos", "mx$"),
    "INR": ("₹", "rupee", "rupees", "inr rs rs."),
    "SEK": ("SEK ", "krona", "kronor", ""),
    "NOK": ("NOK ", "krone", "kroner", ""),
    "DKK": ("DKK ", "krone", "kroner", ""),
    "BRL": ("R$", "real", "reais", "brl reals"),
    "NZD": ("NZ$", "dollar", "dollars", "nzd"),
    "SGD": ("S$", "dollar", "dollars", "sgd"),
    "TWD": ("NT$", "dollar", "dollars", "twd"),
    "KRW": ("₩", "won", "won", "krw"),
    "RUB": ("₽", "ruble", "rubles", "rub rouble roubles"),
    "TRY": ("₺", "lira", "lira", "try liras tl"),
    "PLN": ("PLN ", "zloty", "zlotys", "zł zlote zlotych"),
    "CZK": ("CZK ", "koruna", "korunas", "korun koruny"),
    "HUF": ("HUF ", "forint", "forints", ""),
    "RON": ("RON ", "leu", "lei", ""),
    "UAH": ("₴", "hryvnia", "hryvnias", "uah"),
    "KZT": ("₸", "tenge", "tenge", "kzt"),
    "ZAR": ("ZAR ", "rand", "rand", "rands"),
    "NGN": ("₦", "naira", "naira", "ngn"),
    "GHS": ("GH₵", "cedi", "cedis", "₵ ghs"),
    "KES": ("KES ", "shilling", "shillings", "ksh kshs"),
    "EGP": ("EGP ", "pound", "pounds", ""),
    "ILS": ("₪", "shekel", "shekels", "ils nis"),
    "AED": ("AED ", "dirham", "dirhams", ""),
    "SAR": ("SAR ", "riyal", "riyals", ""),
    "KWD": ("KWD ", "dinar", "dinars", ""),
    "IDR": ("IDR ", "rupiah", "rupiah", "rp rp. rupiahs"),
    "MYR": ("RM ", "ringgit", "ringgit", "rm myr"),
    "PHP": ("₱", "peso", "pesos", "php"),
    "THB": ("฿", "baht", "baht", "thb"),
    "VND": ("₫", "dong", "dong", "vnd"),
    "COP": ("COP ", "peso", "pesos", ""),
    "CLP": ("CLP ", "peso", "pesos", ""),
    "ARS": ("ARS ", "peso", "pesos", ""),
    "PEN": ("PEN ", "sol", "soles", ""),
}
_CENTS = ("cent", "cents", "¢")
#: Hundredths of other currencies.
_MINOR = ("pence", "centavo", "centavos", "kopeck", "kopecks", "paise", "pesewa", "pesewas")
#: Currencies that amounts can be written in.
CODES = tuple(_TABLE)
#: Currency signs and words -> ISO 4217 code, that of the first currency that has it; and ``cent``.
CURRENCIES = dict.fromkeys((*_CENTS, *_MINOR), "cent")
for _code, (_before, _one, _many, _more) in _TABLE.items():
    for _written in (_before.strip().casefold(), _one, _many, *_more.split()):
        CURRENCIES.setdefault(_written, _code)
#: ISO 4217 codes whose amounts are alike.
MONEY = frozenset(CODES)
#: Signs of one character, for a class of characters.
SIGNS = "".join(sorted(word for word in CURRENCIES if len(word) == 1 and word != "¢"))
#: Codes that are words of everybody's count in capitals only.
_IN_CAPITALS = ("TRY", "COP", "PEN", "RON", "ARS", "PHP", "SAR", "RUB", "ILS", "AED")
_IN_ANY_CASE = "|".join(code for code in (*CODES, "RMB") if code not in _IN_CAPITALS)
#: Pattern of a code as it is written: the ISO 4217 ones, and RMB.
ISO = rf"{_IN_ANY_CASE}|(?-i:{'|'.join(_IN_CAPITALS)})"
#: What stands before a country: "sales in the US $4 million", and not before an amount.
NO_PLACE = "".join(
    rf"(?<!\b{word} )(?<!\b{word} the )"
    for word in ("in", "from", "across", "within", "outside", "throughout")
)
#: "U.S. $5", but nobody in "gave us $5".
_OF_AMERICA = rf"(?-i:{NO_PLACE}U\.?S\.? ?)"
#: Pattern of a sign before a figure.
SIGN = (
    rf"(?:US|CA|C|A|HK|NZ|NT|MX|S|R)?\$|{_OF_AMERICA}\$|(?:GH)?₵|[{SIGNS}]|zł|"
    r"(?-i:R[sp]\.?|RM(?=[ \d])|TL|K[Ss]hs?)"
)
#: Words for money that mean something else as well: they count behind large figures alone.
MANIFOLD = frozenset(
    {"real", "won", "rand", "sol", "soles", "lei", "dong", "tl", *map(str.casefold, _IN_CAPITALS)}
)
#: Words for one of a currency that are not for many.
SINGULARS = frozenset(one for _, one, many, _ in _TABLE.values() if one != many)
#: Signs of letters, and words that have patterns of their own.
_APART = ("rs", "rp", "rm", "ksh", "kshs", "dollar", "dollars", "euro", "euros", "pound", "pounds")
#: Pattern of the words behind a figure, but for dollars, euros, pounds and hundredths.
OTHER_WORDS = "|".join(
    sorted(
        {word for word in CURRENCIES if len(word) > 1 and word.isalpha()}
        - {code.casefold() for code in (*CODES, "RMB")}
        - {*_APART, *_CENTS, *_MINOR},
        key=lambda word: (-len(word), word),
    )
)
#: Pattern of hundredths, cents aside.
MINOR = "|".join(sorted(_MINOR, key=lambda word: (-len(word), word)))
_SIGN = re.compile(
    rf"(?<![\w$])(?:(?:{ISO})(?=[ \d.])|{SIGN}) ?(?=[\d.]|[^\W\d])",
    re.IGNORECASE,
)
_WORD = re.compile(
    rf"(?<![^\W\d])(?:(?P<iso>{ISO})|(?:U\.?S\.? )?(?P<word>dollars?|euros?|"
    rf"pounds?(?= sterling)|{OTHER_WORDS})(?: sterling)?)(?!\w)",
    re.IGNORECASE,
)
_HUNDREDTHS = re.compile(rf"(?<![^\W\d])(?:{MINOR})(?!\w)", re.IGNORECASE)
#: Scales of India: one word behind the other are one.
_INDIAN = {
    **dict.fromkeys(("lakh", "lakhs"), 5),
    **dict.fromkeys(("crore", "crores", "cr", "crs"), 7),
    **{f"thousand {word}": 10 for word in ("crore", "crores")},
    **{f"lakh {word}": 12 for word in ("crore", "crores")},
}
INDIAN = r"(?:lakh |thousand )?crores?|lakhs?|crs?"
#: Word of a scale of India -> factor.
INDIAN_SCALES = {word: 10.0**power for word, power in _INDIAN.items()}
_FIGURE = r"\d[\d,]*(?:\.\d+)?|(?<![^\W\d])\.\d+"
_IN_INDIAN = re.compile(
    rf"(?:(?P<first>{_FIGURE})(?P<to> ?(?:to|and|or|[-–]) ?(?:(?:{ISO}|{SIGN}) ?)?))?"
    rf"(?P<number>{_FIGURE})(?P<gap> ?-?)(?P<scale>{INDIAN})(?!\w)",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(?<!\d)\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")
#: Euros as the Continent writes them: a comma before the cents, points between thousands.
CONTINENTAL = r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d{2}"
_OF_EUROS = re.compile(rf"((?:€|\bEUR)[ \u00a0]?)({CONTINENTAL})(?!,?\d)", re.IGNORECASE)
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
    >>> in_currency("₹15,580 crores", "USD"), in_currency("GH₵ 5 million", "EUR")
    ('$155.8 billion', '€5 million')
    >>> in_currency("€1.234,50", "GBP"), in_currency("€1.234,50", "EUR")
    ('£1,234.50', '€1.234,50')
    """
    if code not in _TABLE:
        raise parameter_error("in_currency", "code", f"one of {list(CODES)}", code)
    sign, one, many, _ = _TABLE[code]

    def word(match: re.Match[str]) -> str:
        if match.group("iso"):
            return code
        found = match.group("word").casefold()
        if found == "tl":  # as a code, before and behind a figure
            return code
        # "5 million euro" is mostly a plural of those who do not say euros
        said = one if found == one else many
        return f" {said}" if amount[match.start() - 1 : match.start()].isdigit() else said

    if code != "EUR":
        amount = _OF_EUROS.sub(lambda m: f"{m[1]}{float(in_figures(m[2])):,.2f}", amount)
    if code != "INR":
        amount = in_millions(amount)
    amount = _HUNDREDTHS.sub({"GBP": "pence", "INR": "paise"}.get(code, "cents"), amount)
    cents = _EURO_CENTS.search(amount)
    if not cents:
        amount = _WORD.sub(word, amount)
    elif code != "EUR":
        amount = _EURO_CENTS.sub("", amount)
    return _SIGN.sub(sign, amount)


def in_figures(number: str) -> str:
    """Return a number in figures with a point before decimals and nothing between thousands.

    A comma with two figures behind it parts cents from euros; of others it has three.

    Examples
    --------
    >>> [in_figures(n) for n in ("1.234,50", "714,61", "1,234.5", "5 000")]
    ['1234.50', '714.61', '1234.5', '5000']
    """
    if re.fullmatch(CONTINENTAL, number):
        return number.replace(".", "").replace(",", ".")
    return re.sub("[, ]", "", number)


def in_millions(amount: str) -> str:
    """Return an amount or a count without lakhs and crores; one without them stays as it is.

    Examples
    --------
    >>> [in_millions(a) for a in ("15,580 crores", "2.3 lakh", "6,81,225", "5 million")]
    ['155.8 billion', '230,000', '681,225', '5 million']
    """
    amount = _GROUPED.sub(lambda digits: f"{int(digits[0].replace(',', '')):,}", amount)
    return _IN_INDIAN.sub(_as_elsewhere, amount)


def _as_elsewhere(match: re.Match[str]) -> str:
    """Write lakhs and crores in thousands, millions and billions, both ends of a range alike."""
    factor = Decimal(10) ** _INDIAN[match.group("scale").casefold()]
    ends = [Decimal(end.replace(",", "")) * factor for end in match.group("first", "number") if end]
    scales = (("trillion", 12), ("billion", 9), ("million", 6))
    name, power = next(((n, p) for n, p in scales if ends[-1] >= 10**p), ("", 0))
    written = [f"{(end / 10**power).normalize():,f}" for end in ends]
    joined = (match.group("to") or "").join(written)
    return f"{joined}{match.group('gap')}{name}" if name else joined
