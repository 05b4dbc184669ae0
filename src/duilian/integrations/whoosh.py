"""An analyser for fields of Whoosh."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whoosh.analysis import Analyzer as WhooshAnalyzer
from whoosh.analysis import Token as WhooshToken

from duilian.engine import load
from duilian.engine.analyzer import WORDS
from duilian.models.roles import Ask


class DuilianAnalyzer(WhooshAnalyzer):  # type: ignore[misc]
    """Words of all standards and their parts, with positions and offsets; in a query, words alone.

    An index stores its analyser; this one is stored as the name of its model, which it loads on first use.
    """

    def __init__(self, model: str | Path | None = None, *, ask: Ask | None = None) -> None:
        self.model, self.ask = model, ask or WORDS

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "ask": self.ask}

    @functools.cached_property
    def _zh(self) -> Any:
        return load(self.model)

    def __call__(
        self,
        value: str,
        positions: bool = False,
        chars: bool = False,
        start_pos: int = 0,
        start_char: int = 0,
        mode: str = "",
        **others: Any,  # other arguments that Whoosh passes, such as `removestops`
    ) -> Iterator[WhooshToken]:
        token = WhooshToken(positions, chars, mode=mode)
        for word in self._zh.search_words(value, ask=self.ask, parts=mode != "query"):
            token.text, token.boost, token.stopped = word.text, 1.0, False
            if positions:
                token.pos = start_pos + word.position
            if chars:
                token.startchar, token.endchar = start_char + word.start, start_char + word.end
            yield token
