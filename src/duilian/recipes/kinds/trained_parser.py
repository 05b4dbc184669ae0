"""`[parser] file`: the parser of an analyser that has been trained before, of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Layer
from duilian.corpus.trees import find_fault
from duilian.errors import ConfigError, ModelFileError
from duilian.evaluation import tree_score
from duilian.modelfile import checksum_of, read_model
from duilian.models.registry import is_parser, load_parser
from duilian.models.roles import Ability
from duilian.recipes.kinds.parser_part import ParserPart, with_found_tags
from duilian.recipes.recipe import Recipe, data_hint


def trained_parser(own: ParserPart, recipe: Recipe) -> tuple[Any, dict[str, Any]]:
    """The parser in the file that a recipe names, and notes on it; raise ConfigError if it does not fit."""
    assert own.file is not None
    path, place = Path(own.file), f"{recipe.file}: [parser] file:"
    if not path.is_file():
        hint = f"train this parser first; {data_hint(recipe.folder)}"
        raise ConfigError(f"{place} there is no file {own.file!r}", hint)
    try:
        if not is_parser(path):
            kind = read_model(path)[0].get("kind")
            hint = "name the file of a parser, or leave out the key to train one"
            raise ConfigError(f"{place} {own.file!r} is a model of kind {kind!r}, not a parser", hint)
        parser: Any = load_parser(path)
    except ModelFileError as error:
        raise ConfigError(f"{place} {error.message}", error.hint) from None
    wanted = [side.standard for side in recipe.sides] if own.standard is None else [own.standard]
    if parser.standard not in wanted:
        what = f"the parser has the standard {parser.standard!r}, which is not {_either(wanted)}"
        hint = "use a parser with the standard of a [[side]]"
        raise ConfigError(f"{place} {what}", hint if own.standard is None else "change [parser] standard")
    return parser, {"file": path.name, "fingerprint": checksum_of(path)}


def _either(names: Sequence[str]) -> str:
    return repr(names[0]) if len(names) == 1 else f"one of {', '.join(names)}"


def dev_score(parser: Any, recipe: Recipe, tagger: Any, threads: int) -> float | None:
    """The UAS on the dev set of the parser's side, on gold words with the tags that it sees in use."""
    (side,) = (side for side in recipe.sides if side.standard == parser.standard)
    dev = recipe.corpus(side, "dev")
    if dev is None:
        return None
    if Ability.TAGS in parser.abilities:
        layers = [Layer(sentence[side.standard].words) for sentence in dev]
    else:
        layers = with_found_tags(tagger, dev, threads)
    gold = [sentence[side.standard] for sentence in dev]
    has_tree = [layer.heads is not None and find_fault(layer.heads) is None for layer in gold]
    pairs = [pair for pair, is_one in zip(zip(gold, layers, strict=True), has_tree, strict=True) if is_one]
    if not pairs:
        return None
    guess = parser.predict_layers([Layer(found.words, found.tags) for _, found in pairs], threads=threads)
    score = tree_score([layer for layer, _ in pairs], guess)
    assert score is not None
    return score.uas
