"""Mixed text in training: copies of sentences with English words, so that letters get real tags."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Dictionary, ListedWord
from duilian.labels.encoding import Level
from duilian.lexicon.letter_words import meetings
from duilian.settings import Settings, setting
from duilian.text import Folding


class Copy(NamedTuple):
    """A sentence with English words, and the number of the sentence it was made from."""

    origin: int
    layer: Layer


@dataclasses.dataclass(frozen=True, kw_only=True)
class MixingSettings(Settings):
    """English words in Chinese text (Zhao et al. 2012), to be tagged by context, word list and case."""

    share: float = setting(
        0.0,
        "Share of nouns, names, verbs and adjectives to replace with English in copies of sentences; some "
        "parts of speech less often, as in real text. 0: no mixed text.",
        at_least=0,
        at_most=1,
    )
    sentences: float = setting(
        0.5, "Share of the training sentences to copy this way.", at_least=0, at_most=1
    )
    unknown: float = setting(
        0.2, "Share of the English words in copies to treat as not listed.", at_least=0, at_most=1
    )
    file: str | None = setting(
        None, "List of English words, `word frequency tag`; tools/english_list.py makes one. None: no list."
    )
    name: str | None = setting(None, "Name of the list; none: the file name.")
    licence: str | None = setting(None, "Licence of the list, kept with the model.")

    @property
    def is_on(self) -> bool:
        """Whether there is any mixed text."""
        return self.share > 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.file is not None and not self.is_on:
            raise ConfigError("an English word list needs mixed text", "set [mixing] share, such as 0.3")

    def check_level(self, level: Level) -> None:
        """Raise ConfigError if there is mixed text, but the model does not look for words."""
        if self.is_on and level == "word":
            raise ConfigError("mixed text needs a model that finds words", "use level = 'char'")

    def named(self) -> MixingSettings:
        """The same with only the name of the file: a model does not reveal where it was made."""
        return self if self.file is None else dataclasses.replace(self, file=Path(self.file).name)

    def copies(self, layers: Sequence[Layer], standard: str, seed: int) -> list[Copy]:
        """Copy some sentences with English words and the same tags; the seed decides which."""
        if not self.is_on:
            return []
        import random  # only training needs these

        from duilian.corpus.english_draws import EnglishDraws
        from duilian.corpus.mixing import Mixing, mixed_layer

        rng = random.Random(f"{seed} {standard}")
        listed = [] if self.file is None else list(Dictionary.read(self.file))
        english = EnglishDraws(listed, unknown=self.unknown, rng=rng)
        how = Mixing(share=self.share, replacement="respective")
        chosen = [
            k for k, layer in enumerate(layers) if rng.random() < self.sentences and layer.tags is not None
        ]
        mixed = [Copy(k, mixed_layer(layers[k], how, standard, rng, english)) for k in chosen]
        return [copy for copy in mixed if copy.layer.words != layers[copy.origin].words]

    def words(self, folding: Folding, layers: Iterable[Layer]) -> Dictionary | None:
        """The alphabetic words a model knows: the list, and words of Han and letters in its corpora."""
        if not self.is_on:
            return None
        plain = dataclasses.replace(folding, letters="as-is")
        glued = collections.Counter(
            word for layer in layers for word in layer.words if not word.isascii() and meetings().search(word)
        )
        listed = [] if self.file is None else list(Dictionary.read(self.file))
        own = [ListedWord(plain(word), count) for word, count in sorted(glued.items())]
        name = self.name or ("" if self.file is None else Path(self.file).name) or "words of Han and letters"
        return Dictionary([*listed, *own], name=name, licence=self.licence or "").folded(folding)
