"""The sections of a report on an evaluation, a comparison, a training log or a model.

Evaluations and comparisons are given as the JSON of their commands, so a report can be made from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from duilian.evaluation.breakdown import SHOWN_GROUPS
from duilian.evaluation.comparison import METRICS
from duilian.learning.run_log import PRUNING, Curve
from duilian.reports.charts import bar_chart, heat_map, line_chart
from duilian.reports.html_page import Section, escape, heading, is_number, note, scrolling, shown, table
from duilian.reports.inspection import LearnedMapping, ModelCard
from duilian.result_tables import shown_p
from duilian.wording import counted

MAX_TAGS = 40  # in a plot
_SCORES = ("precision", "recall", "f1", "gold", "guess", "correct")
GROUP_TITLES = {
    "tokens": "tokens",
    "share": "share",
    "recall": "recall",
    "tag_recall": "recall with tag",
    "uas": "heads",
    "las": "heads with relations",
}
Json = Mapping[str, Any]


def evaluation_sections(found: Json, title: str) -> Iterator[Section]:
    """Overall figures, then all available details."""
    details = ("by_", "tag_patterns", "confusions", "unknown_tags", "calibration", "label_ranks")
    figures = {name: value for name, value in found.items() if not name.startswith(details)}
    yield Section(f"{title}: scores", [table(("figure", "value"), _flat(figures), caption="All figures")])
    if found.get("by_tag"):
        yield Section(f"{title}: tags", list(_tag_parts(found)))
    if found.get("confusions"):
        yield Section(f"{title}: confusions", list(_confusion_parts(found)))
    parts = [
        *_group_parts(found),
        *_calibration_parts(found.get("calibration")),
        *_rank_parts(found.get("label_ranks")),
    ]
    if any(parts):
        yield Section(f"{title}: details", parts)


def _flat(found: Json, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        label = prefix + name.replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{label} ")
        else:
            yield label, shown(value) if is_number(value) else str(value)


def _tag_parts(found: Json) -> Iterator[str]:
    ranked = sorted(found["by_tag"].items(), key=lambda entry: (-int(entry[1]["gold"]), entry[0]))
    rows = [(tag, [float(score["f1"])]) for tag, score in ranked[:MAX_TAGS] if score["gold"]]
    yield bar_chart(rows, ["F1"], title="F1 by tag, the most frequent first")
    yield table(
        ("tag", *_SCORES), ((tag, *(score[key] for key in _SCORES)) for tag, score in ranked), caption="Tags"
    )


def _confusion_parts(found: Json) -> Iterator[str]:
    wrong = {(each["gold"], each["guess"]): int(each["count"]) for each in found["confusions"]}
    tags = {tag: int(score["gold"]) for tag, score in found.get("by_tag", {}).items()}
    seen = sorted({tag for pair in wrong for tag in pair}, key=lambda tag: (-tags.get(tag, 0), tag))[
        :MAX_TAGS
    ]
    shares = [
        [
            (found["by_tag"][a]["correct"] if a == b and a in tags else wrong.get((a, b), 0))
            / max(tags.get(a, 0), 1)
            for b in seen
        ]
        for a in seen
    ]
    said = "; ".join(f"{a} as {b}: {count}" for (a, b), count in list(wrong.items())[:10])
    yield heat_map(seen, seen, shares, title="Gold tags (rows) and tags of the answer (columns)", said=said)
    rows = (
        (e["gold"], e["guess"], e["count"], " ‖ ".join(map(str, e["examples"]))) for e in found["confusions"]
    )
    yield table(("gold", "answer", "count", "examples"), rows, caption="Confusions, the most frequent first")


def _group_parts(found: Json) -> Iterator[str]:
    for key, title in (
        ("by_relation", "Relations"),
        ("by_distance", "Arcs by the distance between head and word"),
    ):
        rows = ((name, *(score[each] for each in _SCORES)) for name, score in found.get(key, {}).items())
        yield table(("", *_SCORES), rows, caption=title)
    lengths = found.get("by_length", {})
    names = list(dict.fromkeys(name for scores in lengths.values() for name in scores))
    rows = (
        (group, *(scores[name]["f1"] if name in scores else None for name in names))
        for group, scores in lengths.items()
    )
    yield table(("words", *(_metric(name) for name in names)), rows, caption="By the length of the sentence")
    groups = found.get("by_vocabulary", {})
    keys = [key for key in GROUP_TITLES if any(key in each for each in groups.values())]
    shown = (
        (SHOWN_GROUPS.get(name, name), *(each.get(key) for key in keys)) for name, each in groups.items()
    )
    titles = ("words", *(GROUP_TITLES[key] for key in keys))
    yield table(titles, shown, caption="Words known and unknown to the training corpora")
    patterns = (
        (name, each["tokens"], each["share"], each.get("head_error"))
        for name, each in found.get("tag_patterns", {}).items()
    )
    titles = ("gold → answer", "words", "share of the gold tag", "wrong heads")
    yield table(titles, patterns, caption="Wrong heads by tags")
    foreign = ((tag, count) for tag, count in found.get("unknown_tags", {}).items())
    yield table(("tag", "words"), foreign, caption="Tags of the answer that gold does not have")


def _metric(name: str) -> str:
    return METRICS.get(name, name.replace("_", " "))


def _calibration_parts(found: Json | None) -> Iterator[str]:
    if not found:
        return
    rows = list(zip(found["words"], found["probability"], found["right"], strict=True))
    points = [(100.0 * float(p), 100.0 * float(right)) for _, p, right in rows]
    title = "Calibration: how often words are right, by their probability"
    yield line_chart({"right": points}, title=title, x="probability, %", y="right, %", diagonal=True)
    yield note(f"Expected calibration error: {float(found['error']):.2f} points.")
    shares = ((n, 100.0 * p, 100.0 * right) for n, p, right in rows)
    yield table(("words", "mean probability", "right"), shares, caption="Words by probability")


def _rank_parts(found: Json | None) -> Iterator[str]:
    if not found:
        return
    points = [(float(k), float(p)) for k, p in found["probability"].items()]
    title = f"Pruning ({found['pruning']}): mean probability of the k-th best label"
    yield line_chart({str(found["pruning"]): points}, title=title, x="k", y="probability")
    yield note(f"Entropy: {float(found['entropy']):.3f} nats, the mean over words or characters.")
    yield table(("k", "mean probability"), points, caption="Labels by rank", forms={"k": str})


def study_sections(found: Json) -> Iterator[Section]:
    """The tables of a study, from its results.json; the paper's figures are in columns of their own."""
    for each in found["tables"]:
        titles = each["columns"]
        has_paper = [any(row["paper"][k] is not None for row in each["rows"]) for k in range(len(titles))]
        heads = ["data", "row"]
        for title, has in zip(titles, has_paper, strict=True):
            heads += [title, f"{title}, paper"] if has else [title]
        rows = []
        for row in each["rows"]:
            pairs = zip(row["values"], row["paper"], has_paper, strict=True)
            figures = [x for value, paper, has in pairs for x in ((value, paper) if has else (value,))]
            rows.append([row["data"], row["name"], *figures])
        yield Section(f"{each['name']}: {each['title']}", [table(heads, rows, caption=str(each["title"]))])


def comparison_sections(found: Json) -> Iterator[Section]:
    """Scores of all systems, then each against the first."""
    systems = found["systems"]
    rows = []
    for metric in systems[0]["scores"]:
        for number, system in enumerate(systems):
            score = system["scores"][metric]
            row = [_metric(metric), system["name"], score["mean"], score.get("spread"), system["runs"]]
            each = _difference_of(found["contrasts"][number - 1], metric) if number else {}
            rows.append([*row, *(each.get(key) for key in ("difference", "low", "high", "p"))])
    text = (
        f"{counted(found['sentences'], 'sentence')}, {counted(found['tokens'], 'word')}; "
        f"differences from {systems[0]['name']}."
    )
    parts = [note(text), _score_table(rows)]
    yield Section("Systems", [*parts, *_tags_of_systems(systems)])
    for contrast in found["contrasts"]:
        yield Section(f"{contrast['first']} and {contrast['other']}", list(_contrast_parts(contrast)))


def _score_table(rows: Sequence[Sequence[object]]) -> str:
    titles = ("metric", "system", "score", "spread", "runs", "difference", "low", "high", "p")
    caption = "Scores, differences, 95 % intervals, p"
    return table(titles, rows, caption=caption, forms={"p": shown_p})


def _difference_of(contrast: Json, metric: str) -> Json:
    return next((each for each in contrast["differences"] if each["metric"] == metric), {})


def _tags_of_systems(systems: Sequence[Json]) -> Iterator[str]:
    tags = [
        tag for tag in systems[0].get("by_tag", {}) if all(tag in each.get("by_tag", {}) for each in systems)
    ]
    names = [str(each["name"]) for each in systems]
    scores = [(tag, [float(each["by_tag"][tag]) for each in systems]) for tag in tags]
    scores.sort(key=lambda entry: (-abs(entry[1][-1] - entry[1][0]), entry[0]))
    title = "F1 by tag, largest changes first; the number is the last system's"
    yield bar_chart(scores[:MAX_TAGS], names, title=title)
    yield table(("tag", *names), ((tag, *values) for tag, values in scores), caption="F1 by tag")


def _contrast_parts(found: Json) -> Iterator[str]:
    first, other = str(found["first"]), str(found["other"])
    if "mcnemar" in found:
        said = found["mcnemar"]
        yield note(
            f"Words right in one system only: {first} {said['only_first']}, {other} {said['only_other']}; "
            f"McNemar's p {shown_p(said['p'])}."
        )
    for key, title in (("tags", "Errors, gold and answer"), ("relations", "Relations, gold and answer")):
        rows = ((e["gold"], e["guess"], e["first"], e["other"], e["other"] - e["first"]) for e in found[key])
        yield table(
            ("gold", "answer", first, other, "change"),
            rows,
            caption=title,
            forms=_counts(first, other, "change"),
        )
    words = ((e["word"], e["count"], e["first"], e["other"], e["example"]) for e in found["words"])
    titles = ("word", "count", f"right in {first}", f"right in {other}", "example")
    forms = _counts(*titles[2:4])
    yield table(titles, words, caption="Words that changed most", forms=forms)
    if found["sentences"]:
        yield heading("Sentences worth reading")
    for each in found["sentences"]:
        yield couplet_table(each, first, other)


def _counts(*titles: str) -> dict[str, Callable[[object], str]]:
    """Columns of counts; those of several runs are means, which may have a fraction."""
    return dict.fromkeys(titles, lambda value: f"{value:,g}")


def couplet_table(found: Json, first: str, other: str) -> str:
    """Gold and two answers, aligned: words over the same characters share a column."""
    sides = [[(str(word), str(tag)) for word, tag in found[name]] for name in ("gold", "first", "other")]
    edges = [np.cumsum([len(word) for word, _ in side]).tolist() for side in sides]
    shared = sorted(set(edges[0]).intersection(*edges[1:]))
    gold = set(zip(sides[0], edges[0], strict=True))
    lines = []
    for name, side, ends in zip(("gold", first, other), sides, edges, strict=True):
        blocks: list[str] = [""] * len(shared)
        for pair, end in zip(side, ends, strict=True):
            block = next(k for k, edge in enumerate(shared) if end <= edge)
            wrong = "" if (pair, end) in gold else ' class="wrong"'
            tag = f'<span class="tag">{escape(pair[1])}</span>' if pair[1] else ""
            blocks[block] += f"<td><span{wrong}>{escape(pair[0])}{tag}</span></td>"
        cells = "".join(f"<td><table><tr>{cell}</tr></table></td>" for cell in blocks)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    title = f"Sentence {found['number']}: {found['gained']:g} gained, {found['lost']:g} lost"
    return (
        f'<div class="couplet scroll" role="region" tabindex="0" aria-label="{escape(title)}">'
        f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table></div>"
    )


def curve_sections(curves: Sequence[Curve], title: str = "Training") -> Iterator[Section]:
    """Learning curves of every side, the loss, and the effect of pruning."""
    for number, curve in enumerate(curves, 1):
        name = title if len(curves) == 1 else f"{title}, part {number}"
        rest = {key: row for key, row in curve.values.items() if key.endswith(PRUNING)}
        plots = [
            _curve_plot(curve, curve.scores, "Dev scores", "score, %"),
            _curve_plot(curve, {"loss": curve.values.get("loss", ())}, "Loss per sentence", "loss"),
            *(_curve_plot(curve, {key: row}, key, key) for key, row in rest.items()),
        ]
        names = list(curve.values)
        rows = ((k, *(curve.values[key][n] for key in names)) for n, k in enumerate(curve.iterations))
        yield Section(name, [*plots, table(("iteration", *names), rows, caption="Iterations")])


def _curve_plot(curve: Curve, rows: Mapping[str, Sequence[float | None]], title: str, y: str) -> str:
    points = {
        name: [(float(k), float(x)) for k, x in zip(curve.iterations, row, strict=True) if x is not None]
        for name, row in rows.items()
        if row
    }
    return line_chart(points, title=title, x="iteration", y=y)


def card_sections(card: ModelCard) -> Iterator[Section]:
    """The card of a model."""
    facts = [
        ("kind", card.kind),
        ("level", card.level),
        ("bytes", shown(card.bytes)),
        ("weights", shown(card.weights)),
    ]
    facts += [("parser", card.parser), ("templates", card.templates)]
    texts = [f"<p>{escape(text)}</p>" for found in card.texts.values() for text in found]
    known = [(name, value) for name, value in facts if value]
    yield Section("Model", [*texts, table(("what", "value"), known, caption=card.file), *_side_parts(card)])
    curves = [card.notes.get("curve"), card.notes.get("parser", {}).get("curve")]
    yield from curve_sections([curve_from_notes(each) for each in curves if each])
    if card.notes.get("recipe"):
        recipe = f"<pre>{escape(card.notes['recipe'])}</pre>"
        yield Section("Recipe", [scrolling(recipe, "Recipe")])


def _side_parts(card: ModelCard) -> Iterator[str]:
    rows = [
        (
            name,
            "words only" if tags is None else counted(len(tags), "tag"),
            card.side_notes(name).get("dev_score"),
        )
        for name, tags in card.standards.items()
    ]
    yield table(("standard", "tags", "dev score in training"), rows, caption="Standards")
    scores = [
        (standard, part, _metric(name), value)
        for standard, parts in card.scores.items()
        for part, figures in parts.items()
        for name, value in figures.items()
    ]
    yield table(("standard", "set", "metric", "score"), scores, caption="Scores on raw text")


def curve_from_notes(found: Json) -> Curve:
    """The curve in the notes of a model."""
    names = sorted(found, key=lambda name: (name != "dev", name == "loss", name))
    values = {name: list(found[name]) for name in names if name != "iteration"}
    return Curve([int(k) for k in found["iteration"]], values)


def mapping_section(mapping: LearnedMapping) -> Section:
    """The learned mapping as a heat map and a table."""
    shown_rows = list(mapping.rows())[:MAX_TAGS]
    columns = list(dict.fromkeys(tag for _, _, shares in shown_rows for tag, _ in shares))[: 2 * MAX_TAGS]
    cells = [[dict(shares).get(tag, 0.0) for tag in columns] for _, _, shares in shown_rows]
    said = "; ".join(
        f"{tag} as {shares[0][0]} {100 * shares[0][1]:.0f} %" for tag, _, shares in shown_rows[:10] if shares
    )
    title = f"Tags of {mapping.source} (rows) and of {mapping.target} (columns)"
    rows = (
        (tag, total, "  ".join(f"{name} {100.0 * share:.1f}" for name, share in shares))
        for tag, total, shares in mapping.rows()
    )
    parts = [
        heat_map([row[0] for row in shown_rows], columns, cells, title=title, said=said),
        table(
            (mapping.source, "count", f"{mapping.target}, % of the row"),
            rows,
            caption=f"The learned mapping ({mapping.mapping})",
        ),
    ]
    return Section(f"Mapping of {mapping.source} to {mapping.target}", parts)
