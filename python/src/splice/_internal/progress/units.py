# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0
"""Numbers, sizes and durations as short texts. The text of None is None."""

from __future__ import annotations

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_PARTS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def number(value: float | None) -> str | None:
    """Return a number with a comma between thousands, such as ``120,934``, or ``0.4``."""
    if value is None:
        return None
    return f"{value:,.1f}" if 0 < abs(value) < 10 and value != int(value) else f"{value:,.0f}"


def size(value: float | None) -> str | None:
    """Return a number of bytes, such as ``13.8 MiB``."""
    if value is None:
        return None
    scaled, unit = float(value), 0
    # 1023.95 is the least number that one decimal would show as 1024.0.
    while abs(scaled) >= (1024 if unit == 0 else 1023.95) and unit < len(_SIZES) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return f"{scaled:,.1f} {_SIZES[unit]}" if unit else f"{scaled:.0f} B"


def duration(seconds: float | None) -> str | None:
    """Return a duration with its two largest units, such as ``1 min 1 s``, or ``70 ms``."""
    if seconds is None:
        return None
    if 0 < seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    whole = round(seconds)
    first = next((n for n, (_, length) in enumerate(_PARTS) if whole >= length), len(_PARTS) - 1)
    texts: list[str] = []
    for name, length in _PARTS[first : first + 2]:
        amount, whole = divmod(whole, length)
        if amount or not texts:
            texts.append(f"{amount} {name}")
    return " ".join(texts)


def milliseconds(value: float | None) -> str | None:
    """Return a duration of milliseconds, as :func:`duration`."""
    return None if value is None else duration(value / 1000)
