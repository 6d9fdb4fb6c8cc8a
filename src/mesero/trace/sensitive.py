"""What a secret looks like: by the name that it goes under, by its shape, by having been seen before. Pure.

Names decide first (``api_key``, ``Authorization``, ``requestState``); text that has no names is searched for
assignments, credentials in URLs and the shapes of well-known tokens. When in doubt a value is hidden: its
placeholder keeps length and hash, so that equal values stay equal.

A hash does not protect a value that can be guessed, such as a PIN of four digits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator

__all__ = [
    "Span",
    "find_placeholder_spans",
    "is_hidden_url_part",
    "is_secret_header",
    "is_secret_name",
    "is_secret_query_name",
    "is_strictly_secret_name",
    "is_suspect",
    "placeholder_for",
    "secret_spans",
    "spans_in_words",
]

Span = tuple[int, int]
"""Start and end of a part of a text, in characters."""

_PLACEHOLDER = re.compile(r"<redacted length=\d+ sha256=[0-9a-f]{16}>")


def placeholder_for(value: str) -> str:
    """What is recorded in the place of a secret."""
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<redacted length={len(value)} sha256={digest}>"


# -- names ---------------------------------------------------------------------------------------------------

_STRICT = "password|passwd|passphrase|passcode|secret|apikey|accesskey|privatekey|signingkey|encryptionkey"
_SECRET_NAME = re.compile(
    rf".*(?:{_STRICT}|authorization|credential|assertion|codeverifier|bearer).*"
    r"|.*tokens?(?:value|string|id|\d+)?|.*cookies?|.*jwt|.*authkey|.*sharedkey|requeststate"
    r"|auth|pass|pwd|pin|otp|totp|cvv|cvc|dpop|xauth|.*auth(?:header|key)|(?:device|user)code"
)
_STRICT_NAME = re.compile(rf".*(?:{_STRICT}).*|pass|pwd|pin|otp|totp|cvv|cvc")
# Names of the protocol that only sound like secrets.
_HARMLESS_NAMES = frozenset({"progresstoken", "maxtokens", "wwwauthenticate"})
_HARMLESS = re.compile(
    r"(?:max|min|total|input|output|num|prompt|completion)tokens|.*authorization(?:servers?|endpoint)"
)
_NO_SEPARATORS = str.maketrans("", "", "-_. ")
_MAX_NAME = 128


def _compact(name: str) -> str:
    return name[-_MAX_NAME:].lower().translate(_NO_SEPARATORS)


def is_secret_name(name: str) -> bool:
    """Whether a text under this name is a secret: of a member, an argument, a variable, a form field."""
    compact = _compact(name)
    if compact in _HARMLESS_NAMES or _HARMLESS.fullmatch(compact):
        return False
    return _SECRET_NAME.fullmatch(compact) is not None


def is_strictly_secret_name(name: str) -> bool:
    """Whether even a number under this name is a secret; `is_secret_name` also covers counts of tokens."""
    return _STRICT_NAME.fullmatch(_compact(name)) is not None


_QUERY_NAMES = frozenset({"key", "code", "state", "sig", "signature", "ticket", "xamzsignature", "k"})


def is_secret_query_name(name: str) -> bool:
    """Whether the value of this query parameter is a secret, in any URL."""
    return _compact(name) in _QUERY_NAMES or is_secret_name(name)


_PLAIN_REQUEST_HEADERS = re.compile(
    r"accept(?:-\w+)?|access-control-[\w-]+|cache-control|connection|content-\w+|date|expect|host|last-event-id"
    r"|if-[\w-]+|mcp-[\w-]+|origin|pragma|priority|range|referer|sec-[\w-]+|te|traceparent|tracestate"
    r"|transfer-encoding|upgrade|user-agent|via|forwarded|x-forwarded-\w+|x-real-ip|x-request-id|:\w+"
)


def is_secret_header(name: str, *, is_request: bool) -> bool:
    """Whether the value of a header is a secret. Of a request's, all are that nobody knows to be harmless."""
    if is_secret_name(name.lower().removeprefix("mcp-param-").removeprefix("x-")):
        return True
    return is_request and _PLAIN_REQUEST_HEADERS.fullmatch(name.lower()) is None


_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w~.+=-]{20,}")


def is_hidden_url_part(part: str) -> bool:
    """Whether a segment of the path of an endpoint looks like one of those secrets that are put there."""
    return _RANDOM.fullmatch(part) is not None and not part.startswith(".")


# -- text ----------------------------------------------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SHORT_NAMES = _words("pass pwd pin otp cvv cvc")
# Words of names, as `_compact` leaves them, and what cannot be seen so.
_SUSPECT_WORDS = (
    *_words("token secret passw passphrase passcode credential apikey accesskey privatekey signingkey"),
    *_words("encryptionkey sharedkey auth cookie bearer basic dpop jwt requeststate assertion verifier"),
    *_words(
        'env" environment" envvars" sig= devicecode usercode code= key= state= signature= ticket= ?k= &k= \\u'
    ),
    *(f"{name}{mark}" for name in _SHORT_NAMES for mark in '"\\:='),
)
_SHAPE_ANCHORS = _words(
    "sk- sk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox AKIA AIza ya29. eyJ hf_ npm_ pypi-"
)


def is_suspect(text: str) -> bool:
    """Whether it is worth while to look closer: a cheap test that lets most messages pass."""
    lowered = text.lower()
    # The one such word that many harmless messages have is looked behind.
    compact = lowered.translate(_NO_SEPARATORS).replace("progresstoken", "")
    if any(word in compact for word in _SUSPECT_WORDS):
        return True
    if any(mark in text for mark in _SHAPE_ANCHORS):
        return True
    return "@" in text and ("://" in text or "\\/\\/" in text)


_KEYWORD = (
    r"(?:token|secret|passw(?:or)?d|passphrase|passcode|pwd|credentials?|api[-_ ]?key|access[-_ ]?key"
    r"|private[-_ ]?key|signing[-_ ]?key|encryption[-_ ]?key|shared[-_ ]?key|auth[-_ ]?key|authorization"
    r"|cookie|jwt|assertion|verifier|request_?state|\bpass\b|\bpin\b|\botp\b|\bauth\b)"
)
_KEYWORD_ANCHORS = _words(
    "token secret pass pwd credential api access private signing encryption shared auth cookie jwt assertion"
    " verifier request pin otp"
)
_SCHEME_ANCHORS = _words("bearer basic dpop")
_VALUE = r"""(?P<secret>[^\s"'\\,;&<>{}()\[\]]{3,})"""
_ASSIGNMENT = re.compile(
    rf"""(?P<name>{_KEYWORD}\w{{0,16}})["'\\]{{0,4}}[ \t]{{0,3}}(?:=>|[:=])[ \t]{{0,3}}["'\\]{{0,4}}"""
    rf"""(?:(?:bearer|basic|dpop|token)[ \t]+)?{_VALUE}""",
    re.IGNORECASE,
)
_FLAG = re.compile(rf"--[\w-]{{0,40}}?{_KEYWORD}[\w-]{{0,16}}[ \t]+{_VALUE}", re.IGNORECASE)
_SCHEME = re.compile(
    # A challenge names its parameters there: resource_metadata="https://…".
    r"\b(?:bearer|basic|dpop)[ \t]+(?!(?-i:[a-z_]{2,32})=\"[^\s\"',}\]])"
    r"(?P<secret>(?=\S{0,200}[0-9=_]|\S{16})[\w.~+/=-]{8,})",
    re.IGNORECASE,
)
_USERINFO = re.compile(
    r"://(?:[^\s/:@\"'\\]{0,200}:(?P<secret>[^\s/@\"'\\]{1,500})|(?P<user>[^\s/:@\"'\\]{16,500}))@"
)
_QUERY = re.compile(r"[?&;](?P<name>[\w.%\[\]-]{1,64})=(?P<secret>[^&\s\"'\\#<>]+)")
_SHAPE = re.compile(
    r"(?<![A-Za-z0-9])(?P<secret>sk-[\w-]{16,}|sk_(?:live|test)_\w{10,}|gh[pousr]_\w{16,}|github_pat_\w{16,}"
    r"|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{16,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|hf_\w{20,}|npm_\w{20,}|pypi-[\w-]{20,})"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----(?P<secret>[^-]+)")
# A few words, as most strings of a message are: no pattern fits them.
_SIMPLE = re.compile(r"[A-Za-z_/ ]{0,19}")
_WORDS_THAT_ARE_NO_VALUES = frozenset(
    _words(
        "missing required invalid expired none null undefined true false not must was for unset empty string"
        " object number str bearer basic has cannot could"
    )
)


def secret_spans(text: str, *, known: Collection[str] = ()) -> list[Span]:
    """The parts of a text that are secrets, in order, without overlap; what is a placeholder stays.

    Args:
        text: The text as a person would read it, not as JSON escapes it.
        known: Secrets that were seen under their names before.
    """
    found = [span for value in known for span in _spans_of(value, text)]
    if _SIMPLE.fullmatch(text) is None and is_suspect(text):
        found += _spans_by_pattern(text)
    if not found:
        return []
    kept = find_placeholder_spans(text)
    return _merge(span for span in found if not any(span[0] < end and start < span[1] for start, end in kept))


def spans_in_words(words: Iterable[str]) -> Iterator[tuple[str, list[Span]]]:
    """Each word of a command line with the secrets in it: by their shape, or by the option before them."""
    is_named = False
    for word in words:
        yield word, [(0, len(word))] if is_named and not word.startswith("-") else secret_spans(word)
        is_named = word.startswith("-") and "=" not in word and is_secret_name(word.lstrip("-"))


def find_placeholder_spans(text: str) -> list[Span]:
    """Where secrets were replaced already."""
    if "<redacted " not in text:
        return []
    return [match.span() for match in _PLACEHOLDER.finditer(text)]


def _spans_of(value: str, text: str) -> Iterator[Span]:
    start = text.find(value)
    while start >= 0:
        yield start, start + len(value)
        start = text.find(value, start + len(value))


def _spans_by_pattern(text: str) -> Iterator[Span]:
    lowered = _lowered(text)
    for match in _matches(_SCHEME, text, lowered, _SCHEME_ANCHORS):
        yield match.span("secret")
    for match in _matches(_SHAPE, text, text, _SHAPE_ANCHORS):
        yield match.span("secret")
    for match in _matches(_PRIVATE_KEY, text, text, ("-----BEGIN ",)):
        yield match.span("secret")
    for match in _matches(_FLAG, text, text, ("--",)):
        yield match.span("secret")
    for match in _matches(_ASSIGNMENT, text, lowered, _KEYWORD_ANCHORS):
        if _is_assigned_secret(match):
            yield match.span("secret")
    for match in _matches(_USERINFO, text, text, ("://",)):
        yield match.span("secret" if match["secret"] is not None else "user")
    for match in _matches(_QUERY, text, text, ("?", "&", ";")):
        if is_secret_query_name(match["name"]):
            yield match.span("secret")


def _matches(
    pattern: re.Pattern[str], text: str, searched: str, anchors: Iterable[str]
) -> Iterator[re.Match[str]]:
    """Where a pattern fits, tried only where it can begin: in megabytes of base64 that is hardly anywhere."""
    for anchor in anchors:
        start = searched.find(anchor)
        while start >= 0:
            match = pattern.match(text, start)
            if match is not None:
                yield match
            start = searched.find(anchor, start + 1 if match is None else max(match.end(), start + 1))


def _lowered(text: str) -> str:
    """In lower case, with every character in its place: one letter of Turkish would become two."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


def _is_assigned_secret(match: re.Match[str]) -> bool:
    """Whether the whole name, of which a keyword was found, is that of a secret, and the value no remark."""
    text, start = match.string, match.start()
    while start > max(0, match.start() - 40) and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    name = text[start : match.end("name")]
    value = match["secret"]
    if value.lower().rstrip(".:") in _WORDS_THAT_ARE_NO_VALUES:
        return False
    return is_secret_name(name) and (not value.isdigit() or is_strictly_secret_name(name))


def _merge(spans: Iterator[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
