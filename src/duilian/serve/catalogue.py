"""The models of a service, their standards, and the meaning of tags."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from duilian.engine import Analyzer
from duilian.errors import DuilianError, StandardError, did_you_mean
from duilian.models.offers import conversions_of
from duilian.serve.limits import Limits, UnknownError
from duilian.standards import Explanation, explain
from duilian.standards.explanation import explained_standards, explanations

RELATIONS = ("ud1", "ud")  # tables of relations; if both have a relation, the later table counts


def models(loaded: Mapping[str, Analyzer]) -> list[dict[str, Any]]:
    """Kind, standards and abilities of each model."""
    return [
        {
            "name": name,
            "kind": each.labeler.kind,
            "standards": list(each.standards),
            "trees": None if each.parser is None else each.parser.standard,
            "fast": each.segmenter is not None,
            "conversions": [list(pair) for pair in conversions_of(each.model)],
            "abilities": sorted(ability.value for ability in each.labeler.abilities),
        }
        for name, each in loaded.items()
    ]


def limits(given: Limits) -> dict[str, Any]:
    """The limits that a client should know."""
    return {
        name: value
        for name, value in dataclasses.asdict(given).items()
        if name not in ("work", "queue", "connections")
    }


def standards(loaded: Mapping[str, Analyzer]) -> list[dict[str, Any]]:
    """The standards of all models: tags, and relations where there are trees, with their meanings."""
    found: dict[str, dict[str, Any]] = {}
    for each in loaded.values():
        for name in each.standards:
            entry = found.setdefault(name, {"name": name, "tags": {}, "relations": {}})
            known = _known(name, "tag")
            tags = each.labeler.encoding(name).tags or ()
            entry["tags"] |= {tag: _meaning(known.get(tag)) for tag in tags} | {
                tag: _meaning(known[tag]) for tag in known
            }
            if each.parser is not None and each.parser.standard == name:
                entry["relations"] = {tag: _meaning(given) for tag, given in _relations(name).items()}
    return list(found.values())


def explained(tag: str | None, standard: str | None) -> list[dict[str, Any]]:
    """The explanations of a tag, of a standard, of a tag in a standard, or all; never from a user's file."""
    names = explained_standards()
    if standard is not None and standard not in names:
        raise StandardError(f"unknown standard {standard!r}", did_you_mean(standard, names))
    if tag is not None:
        return list(map(dataclasses.asdict, _of_tag(tag, standard)))
    chosen = names if standard is None else (standard,)
    return [dataclasses.asdict(each) for name in chosen for each in explanations(name)]


def _of_tag(tag: str, standard: str | None) -> Sequence[Explanation]:
    try:
        return explain(tag, standard)
    except DuilianError as error:
        raise UnknownError(error.message, error.hint) from None


def _known(standard: str, kind: str) -> dict[str, Explanation]:
    if standard not in explained_standards():
        return {}
    return {each.tag: each for each in explanations(standard) if each.kind == kind}


def _relations(standard: str) -> dict[str, Explanation]:
    found: dict[str, Explanation] = {}
    for name in (*RELATIONS, standard):
        found |= _known(name, "relation")
    return found


def _meaning(known: Explanation | None) -> dict[str, str] | None:
    if known is None:
        return None
    return {"english": known.english, "chinese": known.chinese, "example": known.example}
