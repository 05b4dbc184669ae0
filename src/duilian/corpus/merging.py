"""Reviewed sentences put back into the corpus that they come from.

Where the corpus before conversion cut a word differently, those words are among its candidates, as in
球迷们_{NN|球迷+们}. The reviewer writes the right words and tags, or chooses that cut as the tag. A word of
a converted tree shows its head and relation, as in 的_{11:appos}; the reviewer writes the right ones.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from duilian.corpus.sentence import Layer, Sentence, Tag
from duilian.corpus.trees import find_fault
from duilian.errors import ConfigError
from duilian.wording import counted

BETWEEN = "+"  # the given words of a cut
_HEAD = re.compile(r"(\d{1,6}):(\S+)")  # head and relation, as the review of a tree has them
_MARKS = re.compile(r"[\s+/_|<>(){}\[\]\\]")  # not allowed in a tag by some format


def given_cuts(words: Sequence[str], given: Sequence[str]) -> list[str]:
    """For each word, the given words in its place; empty if both are the same, or if they cannot be a tag.

    >>> given_cuts(["球迷们", "在", "街", "上"], ["球迷", "们", "在", "街上"])
    ['球迷+们', '', '街上', '街上']
    """
    cuts = [""] * len(words)
    if "".join(words) != "".join(given):
        return cuts
    ours, theirs = ({end: k for k, end in enumerate(_edges(each))} for each in (words, given))
    shared = ((place, theirs[end]) for end, place in ours.items() if end in theirs)
    for (a, c), (b, d) in itertools.pairwise(shared):
        if max(b - a, d - c) > 1 and not _MARKS.search("".join(given[c:d])):
            cuts[a:b] = [BETWEEN.join(given[c:d])] * (b - a)
    return cuts


def _edges(words: Sequence[str]) -> Iterator[int]:
    return itertools.accumulate(map(len, words), initial=0)


@dataclasses.dataclass
class MergeReport:
    sentences: int = 0  # in the corpus that were reviewed
    tags: int = 0  # changed
    heads: int = 0  # changed, or with a changed relation
    words: int = 0  # new, because the text is cut differently now
    untagged: int = 0  # of these, words that the review has no tag for
    headless: int = 0  # words of trees whose own word or head is cut differently now
    first_untagged: int = 0  # the reviewed sentence with the first of them, counted from 0
    undecided: list[int] = dataclasses.field(default_factory=list)  # reviewed sentences with braces
    doubtful: list[str] = dataclasses.field(default_factory=list)  # tags that are not tags, as in 北京_NT|NN
    lost: list[str] = dataclasses.field(default_factory=list)  # reviewed texts missing from the corpus


def merge(
    corpus: Iterable[Sentence], reviewed: Iterable[Sentence], standard: str, report: MergeReport | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with the changes of a review.

    Sentences are found by their characters, and the same text twice in order. The review's words hold, and
    its tags where it has a single one, its heads where it has them; others stay. A tag that spells its words
    cuts them that way; one that spells only some of them, or several tags without braces, counts as open.
    Where words change, the others keep what they have; a head that is no longer there becomes unknown. A
    review whose heads are no tree is a ConfigError.
    """
    report = MergeReport() if report is None else report
    waiting: dict[str, deque[tuple[int, Layer]]] = {}
    for number, sentence in enumerate(reviewed):
        if any(isinstance(tag, frozenset) for tag in sentence[standard].tags or ()):
            report.undecided.append(number)
        layer = _without_doubtful(_with_chosen_heads(_cut_as_chosen(sentence[standard])), report)
        waiting.setdefault("".join(layer.words), deque()).append((number, layer))
    for sentence in corpus:
        layer = sentence[standard]
        found = waiting.get("".join(layer.words))
        if found:
            number, new = found.popleft()
            tagged_so_far = report.untagged == 0
            layer = _merged(layer, new, report)
            if new.heads is not None:
                _check_tree(layer)
            if tagged_so_far and report.untagged:
                report.first_untagged = number
            report.sentences += 1
            sentence = dataclasses.replace(sentence, layers={**sentence.layers, standard: layer})
        yield sentence
    report.lost += [text for text, layers in waiting.items() for _ in layers]


def _cut_as_chosen(layer: Layer) -> Layer:
    """Apply cuts chosen as tags: 球迷们_球迷+们 becomes two words, 街_街上 上_街上 one, all untagged."""
    words: list[str] = []
    tags: list[Tag] = []
    rows = list(zip(layer.words, layer.tags or (), strict=False))
    while rows:
        count, cut = _chosen_cut(rows)
        words += cut or [rows[0][0]]
        tags += [None] * len(cut) or [rows[0][1]]
        del rows[:count]
    return layer if layer.tags is None or tuple(words) == layer.words else Layer(tuple(words), tuple(tags))


def _without_doubtful(layer: Layer, report: MergeReport) -> Layer:
    """Open what a reviewer left unfinished: NT|NN without braces, or a cut that does not fit its words."""
    text, tags = "".join(layer.words), list(layer.tags or ())
    for place, tag in enumerate(tags):
        if isinstance(tag, str) and ("|" in tag or _is_left_cut(tag, layer.words[place], text)):
            report.doubtful.append(f"{layer.words[place]}_{tag}")
            tags[place] = None
    return layer if layer.tags is None else dataclasses.replace(layer, tags=tuple(tags))


def only_tags(layer: Layer) -> Layer:
    """The layer of a review without what it has in the place of tags: cuts, heads and unfinished choices."""
    text = "".join(layer.words)

    def is_tag(name: str, word: str) -> bool:
        return not ("|" in name or _HEAD.fullmatch(name) or _is_left_cut(name, word, text))

    def kept(tag: Tag, word: str) -> Tag:
        if isinstance(tag, str):
            return tag if is_tag(tag, word) else None
        return frozenset(name for name in tag if is_tag(name, word)) if tag else tag

    tags = tuple(map(kept, layer.tags or (), layer.words))
    return layer if layer.tags is None else dataclasses.replace(layer, tags=tags)


def _is_left_cut(tag: str, word: str, text: str) -> bool:
    cut = tag.replace(BETWEEN, "")
    return word in cut and cut in text and any("\u3400" <= char <= "\u9fff" for char in cut)


def _with_chosen_heads(layer: Layer) -> Layer:
    """Move heads written as tags, such as 的_10:acl:relcl, to where they belong."""
    found = [isinstance(tag, str) and _HEAD.fullmatch(tag) for tag in layer.tags or ()]
    if not any(found):
        return layer
    for head in found:
        if head and int(head[1]) > len(layer):
            text = "".join(layer.words)
            raise ConfigError(
                f"the head {head[1]} is outside the sentence {text!r} ({counted(len(layer), 'word')})"
            )
    return dataclasses.replace(
        layer,
        tags=tuple(None if head else tag for head, tag in zip(found, layer.tags or (), strict=True)),
        heads=tuple(int(head[1]) if head else None for head in found),
        relations=tuple(head[2] if head else None for head in found),
    )


def _chosen_cut(rows: Sequence[tuple[str, Tag]]) -> tuple[int, list[str]]:
    """The number of leading words that their tag cuts anew, and the new words; (1, []) if it cuts none."""
    tag, text = rows[0][1], ""
    cut = tag.split(BETWEEN) if isinstance(tag, str) else []
    for count, (word, other) in enumerate(rows, start=1):
        text += word
        if not cut or other != tag or len(text) > len("".join(cut)):
            break
        if text == "".join(cut) and cut != [each for each, _ in rows[:count]]:
            return count, cut
    return 1, []


def _merged(old: Layer, new: Layer, report: MergeReport) -> Layer:
    tags: tuple[Tag, ...] = new.tags or (None,) * len(new)
    if new.words == old.words:
        own = old.tags or (None,) * len(old)
        merged = tuple(a if isinstance(a, str) else b for a, b in zip(tags, own, strict=True))
        report.tags += sum(a != b for a, b in zip(merged, own, strict=True))
        found = dataclasses.replace(old, tags=None if old.tags is None and new.tags is None else merged)
        return _with_heads(found, new, report)
    bare = dataclasses.replace(old, spaces=None)
    known = dict(zip(bare.spans(), old.tags or (None,) * len(old), strict=True))
    places = Layer(new.words).spans()
    merged = tuple(
        tag if isinstance(tag, str) else known.get(place) for tag, place in zip(tags, places, strict=True)
    )
    report.words += sum(place not in known for place in places)
    report.untagged += sum(
        place not in known and tag is None for tag, place in zip(merged, places, strict=True)
    )
    report.tags += sum(
        place in known and known[place] != tag for tag, place in zip(merged, places, strict=True)
    )
    tags_now = None if old.tags is None and new.tags is None else merged
    kept = dataclasses.replace(_recut(bare, new.words), tags=tags_now, spaces=_spaces(old, new.words))
    report.headless += sum(head is None for head in kept.heads or ())
    return _with_heads(kept, new, report)


def _recut(old: Layer, words: tuple[str, ...]) -> Layer:
    """These words, with the heads, relations and columns of those words of `old` that stay.

    White space is left out, and with it the column `misc` of CoNLL-U, which repeats it.
    """
    places = Layer(words).spans()
    new_number = {place: k for k, place in enumerate(places, start=1)}
    old_number = {place: k for k, place in enumerate(old.spans())}
    now = {0: 0} | {k: new_number.get(place) for k, place in enumerate(old.spans(), start=1)}
    source = [old_number.get(place) for place in places]
    heads = relations = None
    if old.heads is not None:
        before = [None if k is None else old.heads[k] for k in source]
        heads = tuple(None if head is None else now[head] for head in before)
        names = old.relations or (None,) * len(old)
        relations = tuple(
            None if k is None or head is None else names[k] for k, head in zip(source, heads, strict=True)
        )
    columns = {
        name: tuple("_" if k is None else values[k] for k in source)
        for name, values in old.columns.items()
        if name != "misc"
    }
    return Layer(words, None, heads, None if old.relations is None else relations, None, columns)


def _spaces(old: Layer, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The white space after each of these words, which have the characters of `old`."""
    if old.spaces is None:
        return None
    after = dict(zip(_edges(old.words), ("", *old.spaces), strict=True))
    return tuple(after.get(end, "") for end in itertools.islice(_edges(words), 1, None))


def _check_tree(layer: Layer) -> None:
    fault = find_fault(layer.heads or (), "partial")
    if fault is not None:
        text = "".join(layer.words)
        raise ConfigError(f"the review of {text!r}: {fault.message}", fault.hint)


def _with_heads(old: Layer, new: Layer, report: MergeReport) -> Layer:
    """The layer with the heads of a review of the same words; a head comes with its relation."""
    if new.heads is None:
        return old
    unknown = (None,) * len(old)
    before = list(zip(old.heads or unknown, old.relations or unknown, strict=True))
    after = [
        known if head is None else (head, relation or known[1] if head == known[0] else relation)
        for known, head, relation in zip(before, new.heads, new.relations or unknown, strict=True)
    ]
    report.heads += sum(a != b for a, b in zip(before, after, strict=True))
    heads, relations = zip(*after, strict=True)
    return dataclasses.replace(old, heads=heads, relations=None if set(relations) == {None} else relations)
