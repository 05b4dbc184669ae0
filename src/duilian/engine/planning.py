"""What has to run to answer a question, and nothing else."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from duilian.errors import ConfigError, NotFittedError
from duilian.models.offers import OffersLabeler, OffersTraining
from duilian.models.roles import Ability, Ask, Labeler, TreeAnnotator, chosen_standard, refuse

USUAL = Ask()


class Plan(NamedTuple):
    """What has to run, and what else could have been requested."""

    ask: Ask
    unasked: tuple[str, ...]


class Planner:
    """Makes the plans of an analyser, each once."""

    def __init__(self, labeler: Labeler, parser: TreeAnnotator | None, segmenter: Any) -> None:
        self._labeler, self._parser, self._segmenter = labeler, parser, segmenter
        self._plans: dict[tuple[Ask, bool], Plan] = {}

    def plan(self, ask: Ask | None, marginals: bool = False) -> Plan:
        """Return what has to run."""
        wanted = USUAL if ask is None else ask
        found = self._plans.get((wanted, marginals))
        if found is None:
            checked = self._checked(dataclasses.replace(wanted, marginals=wanted.marginals or marginals))
            found = self._plans[wanted, marginals] = Plan(checked, self._unasked(checked))
        return found

    def fast_standard(self, standard: str | None) -> str:
        """Return the standard of the segmenter, which must be the one asked for."""
        if self._segmenter is None:
            message = f"this model of kind {self._labeler.kind!r} has no fast segmenter"
            raise ConfigError(message, "leave out --fast (fast=True), or train one with [segmenter]")
        (own,) = labeler_of(self._segmenter).standards
        if standard is not None and chosen_standard(standard, self._labeler.standards) != own:
            hint = f"leave out --fast (fast=True), or ask for {own!r}"
            raise ConfigError(f"the fast segmenter only answers in {own!r}", hint)
        return own

    def _checked(self, ask: Ask) -> Ask:
        """Return the question with the standards as the model spells them, and no trees if there are none."""
        known, parser = self._labeler.standards, self._parser
        names = tuple(chosen_standard(name, known) for name in ask.standards) or known
        if ask.fast:
            names = (self.fast_standard(ask.standards[0] if ask.standards else None),)
        if (ask.marginals or ask.confidence) and Ability.MARGINALS not in self._labeler.abilities:
            raise refuse(self._labeler, Ability.MARGINALS, "use a model of kind crf or coupled")
        has_trees = ask.trees and parser is not None and parser.standard in names and not ask.fast
        return dataclasses.replace(ask, standards=names, trees=has_trees, tags=ask.tags and not ask.fast)

    def _unasked(self, ask: Ask) -> tuple[str, ...]:
        """Return what else the analyser could have computed."""
        labeler = self._labeler
        others = tuple(name for name in labeler.standards if name not in ask.standards)
        tags = () if ask.tags or Ability.TAGS not in labeler.abilities else ("tags",)
        return (*others, *tags, *(() if ask.trees or self._parser is None else ("trees",)))


def check_trained(model: Any) -> None:
    """Refuse an estimator that has not been trained."""
    if isinstance(model, OffersTraining) and not model.is_trained():
        hint = "call fit, or load a model"
        raise NotFittedError(f"this {type(model).__name__} has not been trained yet", hint)


def labeler_of(model: Any) -> Labeler:
    """Return a model in the role of a labeler."""
    check_trained(model)
    found = model.labeler if isinstance(model, OffersLabeler) else model
    if not isinstance(found, Labeler):
        hint = "give a tagger, or a Labeler of your own"
        raise ConfigError(f"{type(model).__name__} cannot find words", hint)
    return found
