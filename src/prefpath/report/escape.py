"""Text that came from outside, made safe: in HTML, and in JSON inside a script tag."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np

# JSON inside <script> ends at "</script>" and changes meaning at "<!--": neither can be
# spelled without these characters. U+2028 and U+2029 end a line in old JavaScript.
_UNSAFE_IN_SCRIPT = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


_SHORT, _TAIL = 16, 10  # letters


def text(value: Any) -> str:
    """A value as HTML text or as an attribute in quotes.

    >>> text('<b>"x" & y</b>')
    '&lt;b&gt;&quot;x&quot; &amp; y&lt;/b&gt;'
    """
    return escape(str(value), quote=True)


def label(value: Any) -> str:
    """A user's label as HTML: isolated, so that right-to-left text does not turn the rest.

    >>> label("a<b")
    '<bdi>a&lt;b</bdi>'
    """
    return f"<bdi>{text(value)}</bdi>"


def one_line(value: Any) -> str:
    """A label that is cut in its middle where there is no room: names often differ at their end.

    >>> one_line("short")
    '<span class="name"><bdi>short</bdi></span>'
    >>> one_line("provider/a-long-model-name-1")
    '<span class="name"><bdi><span>provider/a-long-mo</span><span>del-name-1</span></bdi></span>'
    """
    written = str(value)
    if len(written) <= _SHORT:
        return f'<span class="name">{label(written)}</span>'
    head, tail = text(written[:-_TAIL]), text(written[-_TAIL:])
    return f'<span class="name"><bdi><span>{head}</span><span>{tail}</span></bdi></span>'


def script_json(value: Any) -> str:
    """JSON that can stand inside a script tag, whatever the labels in it.

    >>> script_json({"item": "</script>", "score": float("nan")})
    '{"item":"\\\\u003c/script\\\\u003e","score":null}'
    """
    written = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, code in _UNSAFE_IN_SCRIPT.items():
        written = written.replace(character, code)
    # A lone surrogate is a valid label in Python and not a character of any encoding.
    return written.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    """NumPy values as JSON has them; what is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
