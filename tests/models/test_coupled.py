"""The coupled tagger on the demonstration corpora: learning, answers, files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.learning import IterationReport
from duilian.modelfile import read_model, write_model
from duilian.models import CoupledTagger
from duilian.models.coupling import PlainSides
from duilian.standards import Mapping

CTB, PKU = demo.STANDARDS
QUICK: dict[str, Any] = {"iterations": 2, "plain_iterations": 2, "joint_count": 1}


def layers(name: str, standard: str) -> list[Layer]:
    return [sentence[standard] for sentence in demo.load(name, standard)]


TRAIN = [layers(standard, standard) for standard in demo.STANDARDS]
FEW = [side[:60] for side in TRAIN]
DEV = [layers(f"{standard}-dev", standard) for standard in demo.STANDARDS]
SOME_DEV = [side[:20] for side in DEV]  # a model of characters that has hardly learned is slow
TINY = ([each[:30] for each in FEW], [each[:10] for each in DEV])


def side(*sentences: str) -> list[Layer]:
    """Sentences written as `word/TAG word/TAG`; `word/` has no tag, `word/A|B` one of two."""
    made = []
    for sentence in sentences:
        pairs = [token.split("/") for token in sentence.split()]
        tags = tuple(frozenset(tag.split("|")) if "|" in tag else tag or None for _, tag in pairs)
        made.append(Layer(tuple(word for word, _ in pairs), tags))
    return made


SMALL = [
    side("他/P 走/V", "他/P 看/V 书/N", "书/N 走/V", "她/P 看/V 他/P"),
    side("他/r 走/v", "书/n 看/v 他/r", "人/n 走/v", "他/r 看/v 人/n"),
]


def small(**parameters: Any) -> CoupledTagger:
    return CoupledTagger(("a", "b"), **QUICK | parameters)


@pytest.fixture(scope="module")
def result() -> demo.DemoResult:
    return demo.run()


@pytest.fixture(scope="module")
def words(result: demo.DemoResult) -> CoupledTagger:
    return result.tagger


@pytest.fixture(scope="module")
def characters() -> CoupledTagger:
    return CoupledTagger(level="char", **QUICK).fit([side[:120] for side in TRAIN])


def test_learning_together_beats_learning_alone(result: demo.DemoResult) -> None:
    for standard in demo.STANDARDS:
        assert result.coupled[standard] > result.alone[standard] + 3.0


def test_every_character_is_kept(characters: CoupledTagger) -> None:
    for number, standard in enumerate(demo.STANDARDS):
        assert characters.score(DEV[number], standard=standard) > 0.7
        found = characters.predict_layers(DEV[number], standard)
        for gold, guess in zip(DEV[number], found, strict=True):
            assert "".join(guess.words) == "".join(gold.words)


@pytest.mark.parametrize("parameters", [{}, {"algorithm": "sgd"}, {"level": "char"}], ids=str)
def test_the_same_bytes_for_any_number_of_threads(parameters: dict[str, Any], tmp_path: Path) -> None:
    contents = []
    for threads in (1, 2):
        tagger = CoupledTagger(threads=threads, **QUICK | parameters)
        tagger.fit(TINY[0], dev=TINY[1]).save(tmp_path / "m.duilian")
        contents.append((tmp_path / "m.duilian").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    "parameters",
    [{}, {"algorithm": "sgd"}, {"pruning": "offline", "folds": 2}, {"samples": (20, 30)}],
    ids=str,
)
def test_a_resumed_run_gives_the_same_bytes(parameters: dict[str, Any], tmp_path: Path) -> None:
    def run(iterations: int, **more: Any) -> tuple[bytes, dict[str, float | None]]:
        tagger = CoupledTagger(**QUICK | parameters | {"iterations": iterations})
        tagger.fit(TINY[0], dev=TINY[1], **more).save(tmp_path / "m.duilian")
        return (tmp_path / "m.duilian").read_bytes(), tagger.best_scores_

    checkpoint = tmp_path / "run.checkpoint"
    whole, whole_scores = run(5)
    run(2, checkpoint=checkpoint)
    assert len(read_model(checkpoint)[0]["bests"]) == 3  # of either side, and on average
    resumed, resumed_scores = run(5, checkpoint=checkpoint, resume=True)
    assert resumed_scores == whole_scores
    assert resumed == whole


def test_a_checkpoint_of_other_data_or_settings_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.checkpoint"
    twice = side("他/P 走/V", "书/P 看/V", "他/P 走/V")
    other = side("他/P 走/V", "书/P 看/V", "书/P 看/V")  # the same features and labels, in other places
    pairs = [("P", "r"), ("V", "v"), ("P", "n")]
    mapping = Mapping.from_pairs(pairs, ["P", "V"], ["n", "r", "v"])
    swapped = Mapping.from_pairs([*pairs[:2], ("V", "n")], ["P", "V"], ["n", "r", "v"])
    small(mapping=mapping).fit([twice, SMALL[1]], checkpoint=checkpoint)
    for corpus, parameters in [
        (twice[:2], {}),
        (twice, {"seed": 2}),
        (twice, {"mapping": "complete"}),
        (twice, {"mapping": swapped}),
        (other, {}),
    ]:
        tagger = small(**{"mapping": mapping} | parameters)
        with pytest.raises(ModelFileError, match="not a checkpoint of this run"):
            tagger.fit([corpus, SMALL[1]], checkpoint=checkpoint, resume=True)


VARIANTS: dict[str, dict[str, Any]] = {
    "word": {"mapping": "tight"},
    "char": {"level": "char"},
    "offline": {"pruning": "offline", "folds": 2},
    "mixed": {"pruning": "mixed", "level": "char"},
    "guide": {"guide": PKU},
    "separate": {"features": "separate"},
}


@pytest.fixture(scope="module")
def taggers() -> dict[str, CoupledTagger]:
    return {name: CoupledTagger(**QUICK | kind).fit(FEW, dev=DEV) for name, kind in VARIANTS.items()}


@pytest.mark.parametrize("kind", sorted(VARIANTS))
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_saved_tagger_answers_the_same(
    taggers: dict[str, CoupledTagger], kind: str, precision: Any, tmp_path: Path
) -> None:
    tagger = taggers[kind]
    tagger.save(tmp_path / "a.duilian", precision=precision, notes={"why": "test"})
    loaded = CoupledTagger.load(tmp_path / "a.duilian")
    assert loaded.notes_ == {"why": "test"}
    assert list(loaded.get_params().items()) == [
        (name, list(value) if isinstance(value, tuple) and name != "standards" else value)
        for name, value in tagger.get_params().items()
    ]
    for standard, dev in zip(demo.STANDARDS, SOME_DEV, strict=True):
        if precision == "float32":
            assert loaded.predict_layers(dev, standard) == tagger.predict_layers(dev, standard)
        score = tagger.score(dev, standard=standard)
        assert loaded.score(dev, standard=standard) == pytest.approx(score, abs=0.03)
    if precision == "float32":
        assert loaded.convert(SOME_DEV[0], CTB, PKU) == tagger.convert(SOME_DEV[0], CTB, PKU)
        loaded.save(tmp_path / "b.duilian", notes={"why": "test"})
        assert (tmp_path / "b.duilian").read_bytes() == (tmp_path / "a.duilian").read_bytes()


def test_a_pickled_tagger_answers_the_same(words: CoupledTagger) -> None:
    again = pickle.loads(pickle.dumps(words))
    assert again.predict(DEV[0], CTB) == words.predict(DEV[0], CTB)
    untrained = pickle.loads(pickle.dumps(CoupledTagger(seed=7)))
    assert untrained.get_params() == CoupledTagger(seed=7).get_params()


def test_a_hostile_model_file_is_refused(taggers: dict[str, CoupledTagger], tmp_path: Path) -> None:
    """Whole files with sound checksums whose contents lead outside."""
    path = tmp_path / "m.duilian"
    taggers["word"].save(path)
    header, arrays = read_model(path)
    good = {name: np.array(array) for name, array in arrays.items()}
    bad: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = [
        (header, good | {"table.0.label": np.full_like(good["table.0.label"], 0x7FFF)}),
        (header, good | {"table.0.used": np.zeros_like(good["table.0.used"])}),
        (header, good | {"table.0.check": good["table.0.check"][:-1]}),
        (header, good | {"0.weight": good["0.weight"][:-1]}),
        (header, good | {"transition.at": good["transition.at"] + np.uint32(2**31)}),
        (header, good | {"transition.size": np.array([-1])}),
        (header, good | {"transition.size": np.array([2**40])}),
        (header, good | {"transition.size": good["transition.size"] + 1}),
        (header, good | {"0.transition.weight": good["0.transition.weight"][:-1]}),
        (header, good | {"0.transition.weight": np.full_like(good["0.transition.weight"], np.nan)}),
        (header, good | {"mapping.0": good["mapping.0"][:-1]}),
        (header, good | {"bundles.0": good["bundles.0"] + np.int32(100)}),
        (header, good | {"bundles.0": good["bundles.0"][:-1]}),
        (header, {name: array for name, array in good.items() if name != "bundles.0"}),
        (header | {"tags": [["a"], ["b"]]}, good),
        (header | {"tags": header["tags"][:1]}, good),
        (header | {"tags": 7}, good),
        (header | {"tables": []}, good),
        (header | {"tables": [7] * 3}, good),
        (header | {"parts": [[0, 7, 10]]}, good),
        (header | {"parts": []}, good),
        (header | {"mappings": [[0, 0]]}, good),
        (header | {"mappings": [[1, 0]]}, good),
        (header | {"best_for": {"average": 9}}, good),
        (header | {"best_for": {}}, good),
        (header | {"pruned_sides": [0]}, good),
        (header | {"pruned_sides": [7]}, good),
        (header | {"pruned_sides": 7}, good),
        (header | {"parameters": header["parameters"] | {"most": 0}}, good),
        (header | {"parameters": header["parameters"] | {"decoding": "guess"}}, good),
        (header | {"parameters": header["parameters"] | {"margin": -1.0}}, good),
        (header | {"parameters": {"nonsense": 1}}, good),
    ]
    for changed_header, changed in bad:
        write_model(path, changed_header, changed)
        with pytest.raises(ModelFileError, match=r"m\.duilian: "):
            CoupledTagger.load(path)


def test_trimming_makes_it_smaller(tmp_path: Path) -> None:
    tagger = CoupledTagger(**QUICK).fit(FEW)
    sizes, scores = [], []
    for least in (0.0, 0.05, 1e9):
        tagger.trim(least).save(tmp_path / "m.duilian")
        sizes.append((tmp_path / "m.duilian").stat().st_size)
        scores.append(tagger.score(DEV[0], standard=CTB))
    assert sizes[0] > sizes[1] > sizes[2]
    assert scores[1] == pytest.approx(scores[0], abs=0.03)
    assert scores[2] < scores[0]


@pytest.mark.parametrize(("source", "target"), [(CTB, PKU), (PKU, CTB)])
def test_conversion_is_better_than_tagging(words: CoupledTagger, source: str, target: str) -> None:
    gold = layers(f"both-{target}", target)
    converted = words.convert(layers(f"both-{source}", source), source, target)
    guess = words.predict(gold, target)

    def right(answers: list[Any]) -> int:
        pairs = zip(gold, answers, strict=True)
        return sum(a == b for layer, tags in pairs for a, b in zip(layer.tags or (), tags, strict=True))

    assert right([each.layer.tags for each in converted]) >= right(guess)
    assert right([each.layer.tags for each in converted]) > 0.97 * sum(map(len, gold))
    assert [each.layer.words for each in converted] == [layer.words for layer in gold]
    for each in converted:
        assert len(each.confidence) == len(each.layer)
        assert all(0.0 <= sure <= 1.0 + 1e-6 for sure in each.confidence)


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_what_is_given_is_obeyed(taggers: dict[str, CoupledTagger], kind: str) -> None:
    """Converted to its own standard, a sentence stays as it is."""
    tagger = taggers[kind]
    for number, standard in enumerate(demo.STANDARDS):
        known = set(tagger.encodings_[number].tags or ())
        given = [layer for layer in DEV[number] if set(layer.tags or ()) <= known]
        assert given
        for layer, back in zip(given, tagger.convert(given, standard, standard), strict=True):
            assert (back.layer.words, back.layer.tags) == (layer.words, layer.tags)
            assert back.confidence == pytest.approx([1.0] * len(layer), abs=1e-5)


def test_character_conversion_keeps_every_character(characters: CoupledTagger) -> None:
    for source, target in ((CTB, PKU), (PKU, CTB)):
        given = layers(f"both-{source}", source)
        converted = characters.convert(given, source, target, lenient=True)
        for before, after in zip(given, converted, strict=True):
            assert "".join(after.layer.words) == "".join(before.words)
            assert len(after.confidence) == len(after.layer) == len(after.layer.tags or ())
            assert all(0.0 <= sure <= 1.0 + 1e-6 for sure in after.confidence)
    assert characters.convert([Layer((), ())], CTB, PKU)[0].layer.words == ()


@pytest.mark.parametrize("level", ["word", "char"])
def test_a_tag_unseen_in_training_is_named_or_left_open(level: Any) -> None:
    tagger = small(level=level).fit(SMALL)
    given = side("他/P 走/V", "他/P 走/ZZ 看书/N")
    assert tagger.unknown_tags(given, "a") == [(1, 1, "ZZ")]
    with pytest.raises(StandardError, match="sentence 2: the model has never seen the tag 'ZZ' of 'a'"):
        tagger.convert(given, "a", "b")
    back = tagger.convert(given, "a", "a", lenient=True)[1].layer
    assert back.words == ("他", "走", "看书")
    assert (back.tags or ())[0::2] == ("P", "N")
    assert (back.tags or ())[1] in {"N", "P", "V"}


def test_sentences_without_tags_can_be_converted_too() -> None:
    """Nothing is given at word level, the boundaries at character level."""
    for level in ("word", "char"):
        tagger = small(level=level).fit(SMALL)
        bare = [Layer(("他", "看书"))]
        (found,) = tagger.convert(bare, "a", "a")
        assert found.layer.words == ("他", "看书")
        if level == "word":
            assert found.layer == tagger.predict_layers(bare, "a")[0]


def test_unknown_standards_are_refused(words: CoupledTagger) -> None:
    for act in (
        lambda: words.convert(DEV[0], CTB, "ud"),
        lambda: words.convert(DEV[0], "ud", CTB),
        lambda: words.predict(DEV[0], "ud"),
        lambda: words.of("ud"),
        lambda: words.learned_mapping(DEV[0], CTB, "ud"),
        lambda: words.score(DEV[0], standard="ud"),
    ):
        with pytest.raises(ConfigError, match="no standard 'ud', only ctb, pku"):
            act()


def test_the_learned_mapping_counts_words(words: CoupledTagger, characters: CoupledTagger) -> None:
    for tagger, units in ((words, len), (characters, lambda layer: len("".join(layer.words)))):
        counts = tagger.learned_mapping(DEV[0], CTB, PKU)
        tags = [len(encoding.tags or ()) for encoding in tagger.encodings_]
        assert counts.shape == (tags[0], tags[1])
        assert counts.min() >= 0.0
        assert counts.sum() == pytest.approx(sum(map(units, DEV[0])), rel=1e-5)
        np.testing.assert_allclose(tagger.learned_mapping(DEV[0], PKU, CTB), counts.T, atol=1e-4)
    known = words.learned_mapping(DEV[0], CTB, PKU, given=True)
    names = words.encodings_[0].tags or ()
    gold = [str(tag) for layer in DEV[0] for tag in layer.tags or ()]
    np.testing.assert_allclose(known.sum(axis=1), [gold.count(tag) for tag in names], atol=1e-3)


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_marginals_sum_to_one(taggers: dict[str, CoupledTagger], kind: str) -> None:
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        one = taggers[kind].of(standard)
        found = one.marginals([*dev[:3], Layer(())])
        assert [len(p) for p in found] == [len(one.encoding_.split(x.words)[0]) for x in dev[:3]] + [0]
        for p in found:
            assert p.shape[1] == len(one.encoding_.labels)
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-5)
    assert taggers[kind].of(CTB).marginals([]) == []


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_sentences_of_any_length(taggers: dict[str, CoupledTagger], kind: str) -> None:
    tagger = taggers[kind]
    assert tagger.predict([]) == []
    assert tagger.predict([[], ["好"], []], PKU)[::2] == [[], []]
    assert tagger.analyse([]) == []
    for length in (1, 200):
        for standard, layer in tagger.analyse([["好"] * length])[0].items():
            assert "".join(layer.words) == "好" * length, standard


def test_one_standard_of_the_tagger_answers_as_the_whole(words: CoupledTagger) -> None:
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        one = words.of(standard)
        assert one.predict_layers(dev) == words.predict_layers(dev, standard)
        likeliest = [[one.encoding_.labels[k] for k in p.argmax(axis=1)] for p in one.marginals(dev)]
        assert likeliest == words.predict(dev, standard)


def test_every_iteration_tells_what_pruning_kept() -> None:
    reports: list[IterationReport] = []
    stages: list[str] = []
    tagger = CoupledTagger(**QUICK)
    tagger.fit(FEW, dev=DEV, on_iteration=reports.append, on_stage=stages.append)
    assert [report.iteration for report in reports] == [1, 2]
    assert stages
    for report in reports:
        found = report.details
        assert report.score == pytest.approx((found[CTB] + found[PKU]) / 2)
        for standard in demo.STANDARDS:
            assert found[standard] <= found[f"{standard} oracle"] <= 100.0
            assert 1.0 <= found[f"{standard} candidates"] <= tagger.most
    assert set(tagger.best_scores_) == {CTB, PKU, "average"}
    assert all(tagger.best_scores_[s] >= max(r.details[s] for r in reports) for s in demo.STANDARDS)


def test_each_side_is_answered_with_its_own_best_weights() -> None:
    """With many iterations the sides are best at different times."""
    tagger = CoupledTagger(**QUICK | {"iterations": 4}).fit(FEW, dev=DEV)
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        assert 100 * tagger.score(dev, standard=standard) == pytest.approx(
            tagger.best_scores_[standard], abs=0.3
        )
    average = CoupledTagger(**QUICK | {"iterations": 4, "keep": "average"}).fit(FEW, dev=DEV)
    means = [
        np.mean([100 * t.score(d, standard=s) for s, d in zip(demo.STANDARDS, DEV, strict=True)])
        for t in (average, tagger)
    ]
    assert means[0] == pytest.approx(average.best_scores_["average"], abs=0.3)
    assert means[0] <= means[1] + 0.3
    assert set(average.predictors_) == {"average"}


def test_a_standard_may_lack_a_dev_set() -> None:
    tagger = CoupledTagger(**QUICK).fit(FEW, dev=[None, DEV[1]])
    assert set(tagger.best_scores_) == {"average"}
    assert tagger.best_score_ == pytest.approx(100 * tagger.score(DEV[1], standard=PKU), abs=0.3)
    assert tagger.score(DEV[0], standard=CTB) > 0.7
    without = CoupledTagger(**QUICK).fit(FEW)
    assert without.best_scores_ == {"average": None}
    assert without.score(DEV[0], standard=CTB) > 0.7


def test_three_standards_in_one_model(tmp_path: Path) -> None:
    def renamed(corpus: list[Layer]) -> list[Layer]:
        return [Layer(each.words, tuple(f"x{tag}" for tag in each.tags or ())) for each in corpus]

    train = [TRAIN[0][:60], TRAIN[1][:80], renamed(TRAIN[1][80:160])]
    dev = [*DEV, renamed(DEV[1])]
    names = (CTB, PKU, "third")
    tagger = CoupledTagger(names, **QUICK | {"most": 4}).fit(train, dev=dev)
    assert set(tagger.best_scores_) == {*names, "average"}
    for name, corpus in zip(names, dev, strict=True):
        assert tagger.score(corpus, standard=name) > 0.75
    (found,) = tagger.analyse([DEV[1][0].words])
    assert set(found) == set(names)
    converted = tagger.convert(DEV[1], PKU, "third", lenient=True)
    pairs = [
        (a, b)
        for layer, each in zip(DEV[1], converted, strict=True)
        for a, b in zip(layer.tags or (), each.layer.tags or (), strict=True)
    ]
    assert np.mean([f"x{a}" == b for a, b in pairs]) > 0.85
    tagger.save(tmp_path / "m.duilian")
    assert CoupledTagger.load(tmp_path / "m.duilian").analyse(DEV[1]) == tagger.analyse(DEV[1])


def test_partial_annotation_teaches() -> None:
    """Tags taken away or blurred to sets, at both levels and with a mapping."""
    rng = np.random.default_rng(1)

    def blur(layer: Layer) -> Layer:
        known = [str(tag) for tag in layer.tags or ()]
        drawn = rng.random(len(known))
        return Layer(
            layer.words,
            tuple(None if p < 0.2 else frozenset({t, known[0]}) if p < 0.4 else t
                  for t, p in zip(known, drawn, strict=True)),
        )  # fmt: skip

    partial = [[blur(layer) for layer in corpus] for corpus in FEW]
    for kind in ({}, {"level": "char"}, {"mapping": "tight"}, {"pruning": "offline", "folds": 2}):
        tagger = CoupledTagger(**QUICK | kind).fit(partial)
        assert tagger.score(DEV[0], standard=CTB) > (0.7 if kind.get("level") != "char" else 0.4)


def test_a_sentence_without_any_annotation_does_not_disturb() -> None:
    bare = Layer(("人", "看", "书"))
    for level in ("word", "char"):
        tagger = small(level=level).fit([[*SMALL[0], bare, Layer((), ())], SMALL[1]])
        assert tagger.predict_layers([["他", "走"]], "a")[0].tags == ("P", "V")


def test_only_what_the_source_side_does_not_know_itself_prunes_a_mixed_model(
    taggers: dict[str, CoupledTagger],
) -> None:
    # Both corpora have 60 sentences, and the first is taken for the source.
    assert taggers["mixed"].predictors_["average"].weights.pruned_sides == [1]
    assert taggers["offline"].predictors_["average"].weights.pruned_sides == [0, 1]
    assert taggers["char"].predictors_["average"].weights.pruned_sides == []


@pytest.mark.parametrize("kind", ["offline", "mixed"])
def test_keeping_everything_is_the_same_however_it_is_pruned(kind: Any) -> None:
    everything: dict[str, Any] = {
        "most": 100,
        "mass": 1.0,
        "folds": 2,
        "start": "cold",
        "iterations": 3,
        "margin": None,
    }
    online = small(**everything).fit(SMALL)
    other = small(pruning=kind, **everything).fit(SMALL)
    sentences = [["他", "看", "人"], ["书"], ["新", "书"]]
    for standard in ("a", "b"):
        assert other.predict(sentences, standard) == online.predict(sentences, standard)
        for p, q in zip(
            online.of(standard).marginals(sentences),
            other.of(standard).marginals(sentences),
            strict=True,
        ):
            np.testing.assert_allclose(p, q, atol=1e-6)


def test_jack_knifing_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"pruning": "offline", "folds": 2, "cache": str(tmp_path / "cache")}
    first = small(**settings).fit(SMALL)
    (kept,) = (tmp_path / "cache").iterdir()
    small(**settings | {"folds": 3}).fit(SMALL)
    small(**settings | {"most": 1}).fit(SMALL)
    small(**settings).fit([SMALL[0][:3], SMALL[1]])
    assert len(list((tmp_path / "cache").iterdir())) == 4

    def not_again(*_: object) -> None:
        raise AssertionError("jack-knifed again")

    monkeypatch.setattr(PlainSides, "jackknifed", not_again)
    second = small(**settings).fit(SMALL)
    assert second.state()[1].keys() == first.state()[1].keys()
    for name, array in first.state()[1].items():
        assert array.tobytes() == second.state()[1][name].tobytes(), name
    content = bytearray(kept.read_bytes())
    content[-5] ^= 0xFF
    kept.write_bytes(content)
    with pytest.raises(ModelFileError, match="candidates-"):
        small(**settings).fit(SMALL)


def test_the_disk_never_answers_for_another_corpus(tmp_path: Path) -> None:
    """Two corpora with the same features and labels, which stand in other places."""
    settings: dict[str, Any] = {"pruning": "offline", "folds": 2, "cache": str(tmp_path)}
    for third in ("他/P 走/V", "书/P 看/V"):
        small(**settings).fit([side("他/P 走/V", "书/P 看/V", third), SMALL[1]])
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "mapping",
    ["tight", "relaxed", "automatic", "automatic-intersection", "automatic-first", "automatic-second"],
)
def test_best_paths_obey_the_mapping(mapping: str) -> None:
    tagger = CoupledTagger(mapping=mapping, decoding="path", most=30, mass=1.0, **QUICK).fit(TINY[0])
    ((_, _, allows),) = tagger.mappings_
    assert allows.any()
    assert not allows.all()
    numbers = [encoding.number for encoding in tagger.encodings_]
    found = tagger.analyse(DEV[0][:10])
    pairs = {
        (numbers[0][str(a)], numbers[1][str(b)])
        for each in found
        for a, b in zip(each[CTB].tags or (), each[PKU].tags or (), strict=True)
    }
    assert all(allows[a, b] for a, b in pairs)


def test_automatic_mappings_are_unions_and_intersections() -> None:
    def matrix(mapping: str) -> np.ndarray:
        ((_, _, allows),) = CoupledTagger(mapping=mapping, **QUICK).fit([each[:30] for each in FEW]).mappings_
        return allows

    first, second = matrix("automatic-first"), matrix("automatic-second")
    # Tags without a partner are mapped to everything, so that the laws are inequalities.
    assert (matrix("automatic-intersection") >= first & second).all()
    assert (matrix("automatic") <= first | second).all()
    assert matrix("automatic").sum() < first.size


def test_a_mapping_of_ones_own(tmp_path: Path) -> None:
    pairs = [("P", "r"), ("V", "v"), ("N", "n")]
    tagger = small(mapping=Mapping.from_pairs(pairs), decoding="path", most=9, mass=1.0).fit(SMALL)
    (found,) = tagger.analyse([["他", "看", "书"]])
    assert set(zip(found["a"].tags or (), found["b"].tags or (), strict=True)) <= set(pairs)
    tagger.save(tmp_path / "m.duilian")
    loaded = CoupledTagger.load(tmp_path / "m.duilian")
    assert loaded.analyse([["他", "看", "书"]]) == [found]
    assert (loaded.mappings_[0].allows == tagger.mappings_[0].allows).all()
    with pytest.raises(StandardError, match="names the tag 'X', which the corpus of 'a' has not"):
        small(mapping=Mapping.from_pairs([*pairs, ("X", "n")])).fit(SMALL)
    with pytest.raises(StandardError, match="names the tag 'x', which the corpus of 'b' has not"):
        small(mapping=Mapping.from_pairs([*pairs, ("P", "x")])).fit(SMALL)
    with pytest.raises(StandardError, match="no mapping table 'nonsense'"):
        small(mapping="nonsense").fit(SMALL)
    with pytest.raises(ConfigError, match="no mapping 'automatic-third'"):
        small(mapping="automatic-third").fit(SMALL)


def test_features_can_be_left_out() -> None:
    parts = {}
    for features, pruning in (("all", "online"), ("separate", "online"), ("joint", "offline")):
        tagger = CoupledTagger(features=features, pruning=pruning, folds=2, **QUICK).fit(FEW)
        parts[features] = tagger.predictors_["average"].shape.parts
        assert tagger.score(DEV[0], standard=CTB) > 0.6
    assert parts == {"all": 1, "separate": 0, "joint": 1}


def test_a_margin_changes_little() -> None:
    exact, fast = (CoupledTagger(margin=margin, **QUICK).fit(FEW) for margin in (None, 8.0))
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        assert fast.score(dev, standard=standard) == pytest.approx(
            exact.score(dev, standard=standard), abs=0.01
        )


def test_samples_are_drawn_per_side() -> None:
    reports: list[IterationReport] = []
    settings = QUICK | {"start": "cold", "iterations": 1}
    for samples in ((1, 1), (7, None), None):
        CoupledTagger(samples=samples, **settings).fit(FEW, on_iteration=reports.append)
    losses = [report.loss for report in reports]
    assert len(set(losses)) == 3
    more = CoupledTagger(samples=(150, 10), **settings).fit([FEW[0][:40], FEW[1]])  # some sentences again
    assert more.score(FEW[0][:40], standard=CTB) > 0.8


def test_a_guide_is_for_conversion_from_it(taggers: dict[str, CoupledTagger]) -> None:
    guided, plain = taggers["guide"], CoupledTagger(**QUICK).fit(FEW, dev=DEV)
    given, gold = layers(f"both-{PKU}", PKU), layers(f"both-{CTB}", CTB)

    def accuracy(tagger: CoupledTagger) -> float:
        answers = [each.layer for each in tagger.convert(given, PKU, CTB, lenient=True)]
        pairs = [
            (a, b)
            for layer, answer in zip(gold, answers, strict=True)
            for a, b in zip(layer.tags or (), answer.tags or (), strict=True)
        ]
        return float(np.mean([a == b for a, b in pairs]))

    assert accuracy(guided) > 0.9
    assert accuracy(guided) >= accuracy(plain) - 0.02


@pytest.mark.parametrize("pruning", ["online", "offline"])
def test_dev_sentences_with_both_layers_are_converted(pruning: Any) -> None:
    both = [
        Sentence({CTB: a, PKU: b})
        for a, b in zip(layers(f"both-{CTB}", CTB), layers(f"both-{PKU}", PKU), strict=True)
    ]
    tagger = CoupledTagger(guide=PKU, pruning=pruning, folds=2, **QUICK).fit(FEW, dev=[both, None])
    found = tagger.convert([each[PKU] for each in both], PKU, CTB, lenient=True)
    right = [
        a == b
        for each, answer in zip(both, found, strict=True)
        for a, b in zip(each[CTB].tags or (), answer.layer.tags or (), strict=True)
    ]
    assert 100 * np.mean(right) == pytest.approx(tagger.best_score_, abs=0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"standards": ("a",)}, "at least two different names"),
        ({"standards": ("a", "a")}, "at least two different names"),
        ({"standards": ("a", "b", "c")}, "2 corpora for 3 standards"),
        ({"samples": (1,)}, "1 samples for 2 standards"),
        ({"samples": (0, 5)}, "samples must be"),
        ({"samples": (-3, 5)}, "samples must be"),
        ({"warm": (1.0, 0.0, 0.0)}, "3 warm for 2 standards"),
        ({"features": "some"}, "features must be 'all' or 'separate' or 'joint', got 'some'"),
        ({"features": "joint"}, "nothing prunes online"),
        ({"pruning": "both"}, "pruning must be"),
        ({"start": "hot"}, "start must be"),
        ({"decoding": "beam"}, "decoding must be"),
        ({"margin": -1.0}, "margin must be"),
        ({"keep": "none"}, "keep must be"),
        ({"algorithm": "eg"}, "algorithm must be"),
        ({"most": 0}, "most >= 1"),
        ({"mass": 0.0}, "0 < mass <= 1"),
        ({"mass": 1.5}, "0 < mass <= 1"),
        ({"mass": float("nan")}, "0 < mass <= 1"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"guide": "c"}, "no standard 'c', only a, b"),
        ({"level": "line"}, "level must be"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"plain_iterations": 0}, "iterations must be at least 1"),
        ({"joint_count": -1}, "joint_count must be"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"rate": 0.0}, "rate must be > 0"),
        ({"min_count": 0}, "min_count"),
        ({"level": "char", "scheme": "XYZ"}, "XYZ"),
        ({"templates": "nowhere"}, "nowhere"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_one_sentence(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, StandardError), match=message) as found:
        CoupledTagger(**QUICK | {"standards": ("a", "b")} | parameters).fit(SMALL)
    assert "\n" not in found.value.message


@pytest.mark.parametrize(
    ("corpora", "dev", "error", "message"),
    [
        ([SMALL[0]], None, ConfigError, "1 corpora for 2 standards"),
        (SMALL, [None], ConfigError, "1 dev sets for 2 standards"),
        ([SMALL[0], []], None, ConfigError, "no sentence of 'b'"),
        ([[Layer(("他", "走"))], SMALL[1]], None, StandardError, "corpus of 'a' has no tags"),
        ([[Sentence({"c": SMALL[0][0]})], SMALL[1]], None, ConfigError, "no layer 'a'"),
    ],
)
def test_wrong_corpora_are_refused(corpora: Any, dev: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        small().fit(corpora, dev=dev)


@pytest.mark.parametrize("kind", ["word", "char", "offline"])
def test_lines_give_what_layers_give(taggers: dict[str, CoupledTagger], kind: str) -> None:
    tagger = taggers[kind]
    for standard, dev in zip(demo.STANDARDS, SOME_DEV, strict=True):
        joint = " " if kind != "char" else ""
        text = "".join(joint.join(layer.words) + "\n" for layer in dev)
        expected = [
            " ".join(f"{word}_{tag}" for word, tag in zip(layer.words, layer.tags or (), strict=True))
            for layer in tagger.predict_layers(dev, standard)
        ]
        for threads in (1, 2):
            tagger.set_params(threads=threads)
            assert tagger.of(standard).tag_lines(text.encode()).decode().splitlines() == expected
        tagger.set_params(threads=1)
        assert tagger.of(standard).tag_lines(b"") == b""
    with pytest.raises(ConfigError, match="guide"):
        taggers["guide"].of(CTB).tag_lines(b"")


def test_lines_keep_every_character_and_line_break(taggers: dict[str, CoupledTagger]) -> None:
    text = "他来了。\r\n\r\n  我 爱iPhone😀\n\u3000\n他走了。她呢？没有换行"
    out = taggers["char"].of(PKU).tag_lines(text.encode()).decode()
    assert [out.count(c) for c in "\r\n"] == [text.count(c) for c in "\r\n"]
    assert "".join(token.split("_")[0] for token in out.split()) == "".join(text.split())
    assert not any(token.startswith("我爱") for token in out.split())  # a blank always ends a word
    with pytest.raises(ValueError, match="2: byte 0 is not UTF-8"):
        taggers["char"].of(PKU).tag_lines(b"ok\n\xff\xfe")
