"""The user's lexicon: its file, its matches, and what it does to a tagger trained on the demo corpus."""

from __future__ import annotations

import copy
import itertools
import logging
import pickle
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian import _native, demo
from duilian.corpus import Layer
from duilian.engine import Analyzer
from duilian.errors import ConfigError, CorpusError, StandardError, TextError
from duilian.learning import AdaGrad
from duilian.lexicon import Entry, EntryMode, Finding, Lexicon, Match
from duilian.lexicon.constraint_builder import NO_BONUS, ConstraintBuilder
from duilian.lexicon.entries import EntryTable, is_entry, parse_entry
from duilian.models import Tagger
from duilian.models.base.feature_settings import Features

CORPUS = demo.load("ctb", "ctb")
VOCABULARY = sorted({word for sentence in CORPUS for word in sentence["ctb"].words})
SENTENCES = [sentence["ctb"].words for sentence in CORPUS][:40]


@pytest.fixture(scope="module")
def characters() -> Tagger:
    return Tagger("ctb", level="char", learning=AdaGrad(iterations=4)).fit(CORPUS)


@pytest.fixture(scope="module")
def tagged() -> Tagger:
    return Tagger("ctb", level="word", learning=AdaGrad(iterations=4)).fit(CORPUS)


texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(tuple)
small_words = st.text("甲乙丙丁", min_size=1, max_size=4)
small_texts = st.text("甲乙丙丁", max_size=12)


Analysed = tuple[Sequence[str], Sequence[object]]


def analyse(tagger: Tagger, text: str, lexicon: Lexicon | None = None) -> list[tuple[str, object]]:
    layer = tagger.predict_layers([[text]], lexicon=lexicon)[0]
    return list(zip(layer.words, layer.tags or (None,) * len(layer), strict=True))


def scores(tagger: Tagger, text: str, lexicon: Lexicon | None = None) -> dict[Analysed, float]:
    answers = tagger.k_best([text], 400, lexicon=lexicon)
    return {(each.analysis.words, each.analysis.tags or ()): each.score for each in answers}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# The entries and their file


def test_a_file_gives_words_tags_and_weights(tmp_path: Path) -> None:
    text = "# comment\n北京大学\n云计算\tNN\n\n研究\tVV|NN\n打卡\tVV\t2.5\n躺平\t\t1\n𠮷野家\tNR\n"
    lexicon = Lexicon.read(write(tmp_path / "words.txt", text))
    assert set(lexicon) == {
        Entry("北京大学"),
        Entry("云计算", ("NN",)),
        Entry("研究", ("NN", "VV")),
        Entry("打卡", ("VV",), 2.5),
        Entry("躺平", (), 1.0),
        Entry("𠮷野家", ("NR",)),
    }
    assert len(lexicon) == 6
    assert "北京大学" in lexicon
    assert "北京" not in lexicon
    assert lexicon.skipped == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("云 计算", "the word '云 计算' contains a space, but text is always cut at spaces"),
        ("New York 3 ns", "the word 'New York' contains a space, but text is always cut at spaces"),
        ("自然 语言 处理 5", "the word '自然 语言 处理' contains a space, but text is always cut at spaces"),
        ("\tNN", "a word must not be empty"),
        ("云计算\tNN|", "a tag must not be empty or have spaces, got ''"),
        ("云计算\tN N", "a tag must not be empty or have spaces, got 'N N'"),
        ("云计算\tNN\tmuch", "the weight 'much' is not a number"),
        ("云计算\tNN\t", "the weight '' is not a number"),
        ("云计算\tNN\t-1", "a weight must be above 0 and at most 10000, got -1.0"),
        ("云计算\tNN\tnan", "a weight must be above 0 and at most 10000, got nan"),
        ("云计算\tNN\t2\t3", "expected at most 3 columns, found 4"),
        ("好\tVA\t2", "the word '好' has two weights, 1.0 and 2.0"),
    ],
)
def test_a_wrong_line_is_named_or_counted(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "words.txt", f"好\tVA\t1\n{line}\n坏\tVA\n")
    with pytest.raises(CorpusError) as caught:
        Lexicon.read(path)
    assert caught.value.message == f"{path}:2: {message}"
    lexicon = Lexicon.read(path, lenient=True)
    assert (len(lexicon), lexicon.skipped) == (2, 1)
    assert lexicon.problems == (caught.value.message,)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="mode must be"):
        Lexicon([], mode="maybe")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a weight must be"):
        Lexicon([], weight=0.0)
    with pytest.raises(ConfigError, match="must be a tuple"):
        Entry("北京", "NR")  # type: ignore[arg-type]
    with pytest.raises(TextError):
        Entry("\ud800")


def test_entries_of_one_word_are_merged() -> None:
    lexicon = Lexicon([Entry("研究", ("VV",)), "研究", Entry("研究", ("NN", "VV"))])
    assert list(lexicon) == [Entry("研究", ("NN", "VV"))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("云计算 5 n", Entry("云计算", ("n",))),
        ("创新办 3 i ", Entry("创新办", ("i",))),
        ("凱特琳 nz", Entry("凯特琳", ("nz",))),
        ("台中 3", Entry("台中")),
        ("B超 3 n", Entry("B超", ("n",))),
        ("AT&T 3 nz", Entry("AT&T", ("nz",))),
        ("\\#话题# 3 n", Entry("#话题#", ("n",))),
        ("# 3 n", None),
    ],
)
def test_lines_of_jieba_are_read(tmp_path: Path, line: str, expected: Entry | None) -> None:
    lexicon = Lexicon.read(write(tmp_path / "dict.txt", f"{line}\n好\tVA\t1\n"))
    assert set(lexicon) == {Entry("好", ("VA",), 1.0)} | ({expected} if expected else set())


@pytest.mark.parametrize(
    "line", ["iPhone 15", "plan b", "云计算 中心", "云计算 NN", "云 5 n n", "云  5 n", "卡拉 karaoke"]
)
def test_other_words_with_spaces_are_still_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(CorpusError, match="contains a space"):
        Lexicon.read(write(tmp_path / "dict.txt", f"好 3 a\n{line}\n"))


def test_a_tag_of_jieba_counts_where_it_is_known(characters: Tagger, tagged: Tagger, tmp_path: Path) -> None:
    path = write(tmp_path / "dict.txt", "天去北 3 NR\n们明 9 nrt\n")
    lexicon = pickle.loads(pickle.dumps(Lexicon.read(path)))
    assert ("天去北", "NR") in analyse(characters, "我天去北京", lexicon)
    assert "们明" in dict(analyse(characters, "我们明天去", lexicon))
    given = Layer(("天去北", "们明"))
    assert (tagged.predict_layers([given], lexicon=lexicon)[0].tags or ())[0] == "NR"
    write(path, "天去北 3 NR\n们明\tnrt\n")
    with pytest.raises(StandardError, match=r"dict\.txt:2: .* 'nrt'"):
        characters.predict([["我们"]], lexicon=Lexicon.read(path))


LINES = st.text("甲乙後后a|\t1.0 \\#\u3000\u200b-", max_size=12)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=300)
def test_the_fast_reading_of_lines_is_the_plain_one(lines: list[str]) -> None:
    slow, faults = EntryTable("words.txt"), []
    for number, line in enumerate(lines, start=1):
        try:
            if is_entry(line):
                slow.add(parse_entry(line), number)
        except ConfigError as error:
            faults.append((number, error.message))
    fast = EntryTable("words.txt")
    found = [(number, error.message) for number, error in fast.add_lines(list(enumerate(lines, start=1)))]
    assert found == faults
    assert contents(fast) == contents(slow)


def contents(entries: EntryTable) -> list[tuple[Entry, str]]:
    return [(entries[number], entries.place(number)) for number in range(len(entries))]


def test_a_lexicon_is_copied_and_pickled() -> None:
    lexicon = Lexicon(
        [Entry("研究", ("NN", "VV")), Entry("#好", (), 2.5), Entry("𠮷", ("a|b",))], mode="prefer"
    )
    for copied in (copy.copy(lexicon), copy.deepcopy(lexicon), pickle.loads(pickle.dumps(lexicon))):
        assert list(copied) == list(lexicon)
        assert (copied.mode, copied.weight, copied.skipped) == ("prefer", lexicon.weight, 0)
        assert copied.explain(list("研究#好")) == lexicon.explain(list("研究#好"))


def test_a_word_may_begin_with_the_sign_of_comments(tmp_path: Path) -> None:
    lines = ["# 注", "#注", "\\#话题#\tNN", "好\\#", " # 注", "\\#两个 词"]
    path = write(tmp_path / "words.txt", "\n".join(lines))
    lexicon = Lexicon.read(path, lenient=True)
    assert set(lexicon) == {Entry("#话题#", ("NN",)), Entry("好\\#")}
    assert lexicon.problems == (
        f"{path}:6: the word '\\\\#两个 词' contains a space, but text is always cut at spaces",
    )


def test_a_word_is_found_in_either_script(characters: Tagger) -> None:
    for lexicon in (Lexicon(["国务院"]), Lexicon(["國務院"])):
        assert "國務院" in lexicon
        assert list(lexicon) == [Entry("国务院")]
        assert lexicon.explain(list("在國務院")) == [Match(1, 4, "國務院", "force")]
        assert lexicon.trace("在国务院") == [Finding(1, 4, "国务院", "force")]
        assert "國務院" in dict(analyse(characters, "他在國務院。", lexicon))
    assert Lexicon([Entry("東", ("量詞",))]).columns(["东"])["lexicon_tag"] == ["量詞"], "a tag is no word"


def test_tags_in_a_file_keep_their_characters(tmp_path: Path) -> None:
    path = write(tmp_path / "words.txt", "國務院\t機構|組織\n後\t\t2.5\n車\n")
    expected = {Entry("国务院", ("機構", "組織")), Entry("后", (), 2.5), Entry("车")}
    assert set(Lexicon.read(path)) == expected


def test_an_entry_of_a_file_knows_its_line(tmp_path: Path) -> None:
    text = "# 一\n云计算\n\n云计算\tNN\n中心\n 坏 词\n好\t\t1e0\n中心\n大学\n"
    path = write(tmp_path / "words.txt", text)
    lexicon = Lexicon.read(path, lenient=True)
    for each in (lexicon, pickle.loads(pickle.dumps(lexicon))):
        places = {found.word: found.place for found in each.trace("云计算中心好大学")}
        assert places == {
            "云计算": f"{path}:2",
            "中心": f"{path}:5",
            "好": f"{path}:7",
            "大学": f"{path}:9",
        }


def test_what_is_no_text_is_refused() -> None:
    lexicon = Lexicon(["好"])
    assert 3 not in lexicon
    assert "" not in lexicon
    for ask in (lexicon.__contains__, lexicon.explain, lexicon.columns, lexicon.trace):
        with pytest.raises(TextError, match="lone surrogate"):
            ask("好\ud800")


# Matching


def naive_matches(words: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Repeatedly take the longest, leftmost match that touches no earlier one."""
    spans = [
        (start, end)
        for start, end in itertools.combinations(range(len(text) + 1), 2)
        if text[start:end] in words
    ]
    kept: list[tuple[int, int]] = []
    while spans:
        best = max(spans, key=lambda span: (span[1] - span[0], -span[0]))
        kept.append(best)
        spans = [span for span in spans if span[1] <= best[0] or best[1] <= span[0]]
    return sorted(kept)


@given(st.lists(small_words, max_size=8), small_texts, st.randoms(use_true_random=False))
def test_matches_are_the_naive_ones_in_any_order_of_entries(
    words: list[str], text: str, rng: random.Random
) -> None:
    found = [(start, end) for start, end, _, _ in Lexicon(words).explain(list(text))]
    assert found == naive_matches(words, text)
    shuffled = rng.sample(words, len(words))
    assert Lexicon(shuffled).explain(list(text)) == Lexicon(words).explain(list(text))


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (["甲乙丙", "丙丁戊己", "甲乙"], "甲乙丙丁戊己", ["甲乙", "丙丁戊己"]),
        (["甲乙", "乙丙"], "甲乙丙", ["甲乙"]),
        (["甲", "甲甲"], "甲甲甲", ["甲甲", "甲"]),
        (["𠮷野"], "在𠮷野家", ["𠮷野"]),
        (["丙丁"], "丙", []),
        (["甲"], "", []),
    ],
)
def test_the_longest_match_wins_then_the_leftmost(words: list[str], text: str, expected: list[str]) -> None:
    assert [match.word for match in Lexicon(words).explain(list(text))] == expected


def test_a_match_begins_and_ends_with_units() -> None:
    lexicon = Lexicon(["iPhone手机", "Phone", "iP"])
    assert lexicon.explain(["用", "iPhone", "手", "机"]) == [Match(1, 4, "iPhone手机", "force")]
    assert lexicon.explain(["iPhone"]) == []
    assert [match.word for match in lexicon.explain(list("iPhone"))] == ["Phone"]


def test_a_forced_word_goes_before_a_longer_preferred_one() -> None:
    lexicon = Lexicon(["北京", Entry("北京大学", (), 1.0), Entry("大学", (), 1.0)])
    assert lexicon.explain(list("北京大学")) == [Match(0, 2, "北京", "force"), Match(2, 4, "大学", "prefer")]


def test_at_word_level_only_tagged_entries_fire_on_their_unit() -> None:
    lexicon = Lexicon([Entry("北京", ("NR",)), "大学", Entry("北京大学", ("NT",))])
    assert lexicon.explain(["北京", "大学"], level="word") == [Match(0, 1, "北京", "force")]


def test_columns_tell_place_length_and_tags() -> None:
    lexicon = Lexicon([Entry("北京", ("NR",)), "图书馆", Entry("去", ("VV", "P")), "中华人民共和国"])
    columns = lexicon.columns(list("去北京的图书馆"))
    assert columns["lexicon"] == ["S", "B2", "E2", "O", "B3", "I3", "E3"]
    assert columns["lexicon_tag"] == ["P|VV", "NR", "NR", "O", "-", "-", "-"]
    assert lexicon.columns(list("中华人民共和国"))["lexicon"] == ["B5+", *["I5+"] * 5, "E5+"]
    assert lexicon.columns([]) == {"lexicon": [], "lexicon_tag": []}


# Tracing


def test_trace_says_what_fires_and_why_others_do_not() -> None:
    lexicon = Lexicon(["和服", "服务", Entry("商品", (), 1.5), "Phone", "云计算", "好。他"])
    assert lexicon.trace("商品和服务") == [
        Finding(0, 2, "商品", "prefer"),
        Finding(2, 4, "和服", "force"),
        Finding(3, 5, "服务", "force", "overlaps '和服', which has priority"),
    ]
    assert [each.fires for each in lexicon.trace("商品和服务")] == [True, True, False]
    assert lexicon.trace("iPhone") == [Finding(1, 6, "Phone", "force")]
    inside = "begins or ends inside a unit that is never cut"
    assert lexicon.trace("iPhone", join_letters=True) == [Finding(1, 6, "Phone", "force", inside)]
    between = "contains the end of a sentence or an invisible character"
    assert lexicon.trace("你好。他 和服") == [
        Finding(1, 4, "好。他", "force", between),
        Finding(5, 7, "和服", "force"),
    ]
    assert lexicon.trace("云 计算") == [], "that is another word"
    assert lexicon.trace("") == []


@given(st.lists(small_words, max_size=8), st.text("甲乙丙丁 。", max_size=14))
def test_trace_has_every_occurrence_and_fires_what_the_decoder_hears(words: list[str], text: str) -> None:
    lexicon = Lexicon(words)
    found = lexicon.trace(text)
    places = {(start, end) for start, end in itertools.combinations(range(len(text) + 1), 2)}
    assert [(each.start, each.end) for each in found] == sorted(
        place for place in places if text[slice(*place)] in words
    )
    assert all(text[each.start : each.end] == each.word for each in found)
    fired = [place for each in found if each.fires for place in range(each.start, each.end)]
    assert len(fired) == len(set(fired)), "no two that fire overlap"
    pieces = itertools.chain.from_iterable(part.split(" ") for part in text.split("。"))
    assert len([each for each in found if each.fires]) == sum(
        len(lexicon.explain(list(piece))) for piece in pieces
    )


# Force


def test_a_forced_word_is_a_word_with_its_tag(characters: Tagger) -> None:
    text = "我们明天去北京参观"
    plain = [word for word, _ in analyse(characters, text)]
    assert "天去北" not in plain
    forced = analyse(characters, text, Lexicon([Entry("天去北", ("VA",))]))
    assert ("天去北", "VA") in forced
    assert "".join(word for word, _ in forced) == text


def test_without_tags_a_forced_word_takes_any_and_with_several_one_of_them(characters: Tagger) -> None:
    text = "我们明天去北京参观"
    assert "天去北" in dict(analyse(characters, text, Lexicon(["天去北"])))
    found = dict(analyse(characters, text, Lexicon([Entry("天去北", ("BA", "LB"))])))
    assert found["天去北"] in ("BA", "LB")


@given(texts, st.data())
@settings(max_examples=60, deadline=None)
def test_what_explain_says_is_forced_is_in_the_output(
    characters: Tagger, words: tuple[str, ...], data: st.DataObject
) -> None:
    text = "".join(words)
    cuts = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda cut: cut[0] < cut[1])
    spans = data.draw(st.lists(cuts, min_size=1, max_size=4))
    tags = data.draw(st.sampled_from([(), ("NR",), ("M", "VV")]))
    lexicon = Lexicon([Entry(text[start:end], tags) for start, end in spans])
    layer = characters.predict_layers([words], lexicon=lexicon)[0]
    found = dict(zip(layer.spans(), layer.tags or (), strict=True))
    matches = lexicon.explain(list(text))
    assert matches
    for start, end, _, _ in matches:
        assert found[start, end] in (tags or characters.encoding_.tags or ())


@pytest.mark.parametrize("scheme", ["BIES", "BMES", "BI", "IE"])
@pytest.mark.parametrize("segment_only", [False, True])
def test_forced_words_are_words_in_every_scheme(scheme: str, segment_only: bool) -> None:
    tagger = Tagger(
        "ctb",
        level="char",
        segment_only=segment_only,
        features=Features(scheme=scheme),
        learning=AdaGrad(iterations=1),
    ).fit(CORPUS)
    text = "我们明天去北京参观新的图书馆"
    for start, end in itertools.combinations(range(len(text) + 1), 2):
        if end - start > 3:
            continue
        # A preferred word that begins right after does not keep the forced one from ending.
        beside = [Entry(word, (), 0.01) for word in {text[end : end + 2]} - {text[start:end], ""}]
        assert text[start:end] in dict(analyse(tagger, text, Lexicon([text[start:end]])))
        assert text[start:end] in dict(analyse(tagger, text, Lexicon([text[start:end], *beside])))


def test_of_two_forced_words_that_overlap_one_is_a_word(characters: Tagger) -> None:
    text = "商品和服务"
    assert "和服" in dict(analyse(characters, text, Lexicon(["和服", "服务"])))
    assert "和服" in dict(analyse(characters, text, Lexicon(["服务", "和服"])))
    found = dict(analyse(characters, text, Lexicon(["和服", "服务", "品和服"])))
    assert "品和服" in found


def test_only_signs_may_be_punctuation(characters: Tagger) -> None:
    # A tagger that knows little more than commas.
    tagger = Tagger("ctb", level="char", learning=AdaGrad(iterations=2))
    tagger.fit([Layer(("，", "，", "。", "好"), ("PU", "PU", "PU", "VA"))] * 5)
    assert dict(analyse(tagger, "，龘，", Lexicon(["龘"])))["龘"] == "VA"
    assert dict(analyse(tagger, "，…，", Lexicon(["…"])))["…"] == "PU"
    assert dict(analyse(tagger, "，龘，", Lexicon([Entry("龘", ("PU",))])))["龘"] == "PU"


def test_a_long_word_without_tags_is_rather_a_noun(characters: Tagger) -> None:
    for word, tag, bonus in (("北京大学", "NN", 2.0), ("北京大学", "VV", 0.0), ("北京大", "NN", 0.0)):
        analysis = ((word,), (tag,))
        known = scores(characters, word, Lexicon([Entry(word, (tag,))]))[analysis]
        found = scores(characters, word, Lexicon([word]))[analysis]
        assert found - known == pytest.approx(bonus, abs=1e-4)


def test_forced_tags_at_word_level(tagged: Tagger) -> None:
    words = ("我们", "明天", "去", "北京")
    lexicon = Lexicon([Entry("去", ("P",)), Entry("北京", ("NN", "VA")), "明天", Entry("我们明天", ("NN",))])
    plain, forced = tagged.predict([words])[0], tagged.predict([words], lexicon=lexicon)[0]
    assert plain[2] != "P"
    assert forced[2] == "P"
    assert forced[3] in ("NN", "VA")


def test_all_units_forced_and_single_characters(characters: Tagger) -> None:
    text = "我去北京"
    entries = [Entry("我", ("VV",)), Entry("去", ("NN",)), Entry("北京", ("AD",))]
    assert analyse(characters, text, Lexicon(entries)) == [("我", "VV"), ("去", "NN"), ("北京", "AD")]
    assert analyse(characters, "我", Lexicon(entries)) == [("我", "VV")]


def test_runs_of_letters_are_matched_as_units() -> None:
    tagger = Tagger(
        "ctb", level="char", features=Features(join_letters=True), learning=AdaGrad(iterations=2)
    ).fit(CORPUS)
    found = dict(analyse(tagger, "我买了iPhone手机", Lexicon([Entry("iPhone手机", ("NR",)), "Phone"])))
    assert found["iPhone手机"] == "NR"


# Prefer


def test_a_preference_moves_close_decisions_only(tagged: Tagger) -> None:
    words = ("我们", "明天", "去", "北京")
    probabilities = tagged.marginals([words])[0][2]
    best, second = np.argsort(-probabilities)[:2]
    gap = float(np.log(probabilities[best] / probabilities[second]))
    tag = tagged.encoding_.labels[second]
    entry = [Entry("去", (tag,))]
    assert tagged.predict([words], lexicon=Lexicon(entry, mode="prefer", weight=gap * 0.2))[0][2] != tag
    assert tagged.predict([words], lexicon=Lexicon(entry, mode="prefer", weight=gap * 5 + 5))[0][2] == tag


def test_a_preferred_word_needs_enough_weight(characters: Tagger) -> None:
    text = "我们明天去北京参观"
    answers = [
        "天去北" in dict(analyse(characters, text, Lexicon(["天去北"], mode="prefer", weight=weight)))
        for weight in (0.01, 0.5, 2.0, 8.0, 100.0)
    ]
    assert answers[0] is False
    assert answers[-1] is True
    assert answers == sorted(answers)


def test_a_preference_adds_its_weight_to_each_unit_and_no_more(characters: Tagger) -> None:
    before = scores(characters, "我们明天")
    added = {}  # of analyses with the word, and of analyses that share no label with it
    for (words, tags), score in scores(
        characters, "我们明天", Lexicon([Entry("明天", ("NT",), 1.5)])
    ).items():
        has_word = ("明天", "NT") in zip(words, tags, strict=True)
        if (words, tags) in before and (has_word or "NT" not in tags):
            added[words, tags] = (score - before[words, tags], 3.0 if has_word else 0.0)
    assert {expected for _, expected in added.values()} == {0.0, 3.0}
    assert all(found == pytest.approx(expected, abs=1e-4) for found, expected in added.values())


def test_a_shorter_word_is_preferred_where_a_longer_one_loses(characters: Tagger) -> None:
    text = "我们明天去北京参观"
    assert "北京参" not in dict(analyse(characters, text))
    shorter, longer = Entry("北京参", (), 50.0), Entry("去北京参观", (), 0.01)
    for other in (Entry("北京参观", (), 0.01), Entry("去北京参", (), 0.01)):
        assert "北京参" in dict(analyse(characters, text, Lexicon([shorter, other])))
    inside = analyse(characters, text, Lexicon([shorter, longer]))
    assert inside == analyse(characters, text), "in the middle it would lend its bonus to words of nobody"


def test_of_two_bonuses_on_a_label_the_larger_counts(characters: Tagger) -> None:
    analysis = (("明天", "去"), ("NT", "VV"))
    plain = scores(characters, "明天去")[analysis]
    for entries in itertools.permutations([Entry("明天", ("NT",), 3.0), Entry("明天去", ("NT",), 1.0)]):
        found = scores(characters, "明天去", Lexicon(entries))[analysis]
        assert found - plain == pytest.approx(6.0, abs=1e-4)


def test_an_entry_with_a_weight_is_a_preference_in_any_mode(characters: Tagger) -> None:
    text = "我们明天去北京参观"
    for mode in ("force", "prefer"):
        entries = [Entry("天去北", (), 0.01)]
        assert analyse(characters, text, Lexicon(entries, mode=mode)) == analyse(characters, text)


@pytest.mark.parametrize("scheme", ["BI", "IE"])
def test_a_strong_preference_is_a_whole_word_in_schemes_with_open_edges(scheme: str) -> None:
    tagger = Tagger(
        "ctb",
        level="char",
        segment_only=True,
        features=Features(scheme=scheme),
        learning=AdaGrad(iterations=1),
    ).fit(CORPUS)
    text = "我们明天去北京参观新的图书馆"
    for start in range(len(text) - 1):
        word = text[start : start + 2]
        assert word in dict(analyse(tagger, text, Lexicon([Entry(word, (), 100.0)])))


# What must not change


@given(
    st.lists(texts, min_size=1, max_size=3),
    st.lists(small_words, max_size=5),
    st.sampled_from(["force", "prefer"]),
)
@settings(max_examples=60, deadline=None)
def test_entries_that_do_not_occur_change_nothing(
    characters: Tagger, tagged: Tagger, sentences: list[tuple[str, ...]], words: list[str], mode: EntryMode
) -> None:
    # 龘 is in no text, so no entry matches, though parts of entries do.
    entries = [Entry(f"{word}龘", ("NN",)) for word in [*words, *sentences[0]]]
    lexicon = Lexicon(entries, mode=mode)
    for tagger in (characters, tagged):
        assert tagger.predict_layers(sentences, lexicon=lexicon) == tagger.predict_layers(sentences)
        plain, constrained = tagger.marginals(sentences), tagger.marginals(sentences, lexicon=lexicon)
        assert all(np.array_equal(a, b) for a, b in zip(plain, constrained, strict=True))


@given(st.text("我们明天去北京 \u3000\u200b。a1", max_size=16), st.data())
@settings(max_examples=60, deadline=None)
def test_entries_that_a_line_of_text_does_not_have_change_nothing(
    characters: Tagger, line: str, data: st.DataObject
) -> None:
    # Parts of the line, too, once the gaps in it are left out.
    joined = "".join(line.split())
    cut = data.draw(st.integers(0, len(joined)))
    words = [each for each in (joined, joined[cut:], joined[:cut]) if each and each not in line]
    lexicon = Lexicon([*words, "我们北京"] if "我们北京" not in line else words)
    plain, constrained = (
        Analyzer(characters, lexicon=each)(line, marginals=True).tokens() for each in (None, lexicon)
    )
    assert constrained == plain
    assert characters.predict_layers([(line,)], lexicon=lexicon) == characters.predict_layers([(line,)])
    assert characters.k_best((line,), 2, lexicon=lexicon) == characters.k_best((line,), 2)


@given(st.lists(texts, min_size=2, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_sentences_do_not_see_each_other(
    characters: Tagger, tagged: Tagger, sentences: list[tuple[str, ...]], data: st.DataObject
) -> None:
    words = data.draw(st.lists(st.sampled_from(VOCABULARY), max_size=6))
    entries = [Entry(word, ("NN",), weight) for word, weight in zip(words, itertools.cycle((None, 3.0)))
               if words.count(word) == 1]  # fmt: skip
    lexicon = Lexicon(entries)
    for tagger in (characters, tagged):
        together = tagger.predict_layers(sentences, lexicon=lexicon)
        alone = [tagger.predict_layers([each], lexicon=lexicon)[0] for each in sentences]
        assert together == alone


def test_the_order_of_entries_does_not_matter(characters: Tagger) -> None:
    entries = [Entry(word, ("NN", "VV"), weight) for word, weight in
               zip(VOCABULARY[:200], itertools.cycle((None, 1.0, 3.0)))]  # fmt: skip
    expected = characters.predict_layers(SENTENCES, lexicon=Lexicon(entries))
    assert expected != characters.predict_layers(SENTENCES)
    for seed in range(3):
        shuffled = random.Random(seed).sample(entries, len(entries))
        assert characters.predict_layers(SENTENCES, lexicon=Lexicon(shuffled)) == expected


@pytest.mark.parametrize("mode", ["force", "prefer"])
@pytest.mark.parametrize("level", ["characters", "tagged"])
def test_the_same_for_any_number_of_threads(
    level: str, mode: EntryMode, request: pytest.FixtureRequest
) -> None:
    tagger: Tagger = request.getfixturevalue(level)
    lexicon = Lexicon([Entry(word, ("NN",)) for word in VOCABULARY[::3]], mode=mode)
    one = tagger.predict_layers(SENTENCES, lexicon=lexicon)
    assert tagger.predict_layers(SENTENCES, lexicon=lexicon, threads=2) == one


# The other questions


def test_marginals_and_k_best_obey_the_lexicon(characters: Tagger) -> None:
    lexicon = Lexicon([Entry("明天", ("NN",))])
    probabilities = characters.marginals([["我们明天"]], lexicon=lexicon)[0]
    number = characters.encoding_.number
    assert probabilities[2, number["B@NN"]] == pytest.approx(1.0)
    assert probabilities[3, number["E@NN"]] == pytest.approx(1.0)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    answers = characters.k_best(["我们明天"], 5, lexicon=lexicon)
    assert len(answers) == 5
    assert all(("明天", "NN") in zip(a.analysis.words, a.analysis.tags or (), strict=True) for a in answers)
    assert answers[0].analysis == characters.predict_layers([["我们明天"]], lexicon=lexicon)[0]
    assert sum(answer.probability for answer in answers) <= 1.0 + 1e-9


def test_a_tag_that_the_model_does_not_know_is_named(characters: Tagger, tagged: Tagger) -> None:
    for tagger in (characters, tagged):
        with pytest.raises(
            StandardError, match="word '坏词' has the tag 'vn', which the model does not know"
        ):
            tagger.predict([["我们"]], lexicon=Lexicon([Entry("坏词", ("NN", "vn")), Entry("好", ("VA",))]))


def test_a_tag_in_a_file_that_the_model_does_not_know_has_its_place(
    characters: Tagger, tmp_path: Path
) -> None:
    path = write(tmp_path / "words.txt", "好\tVA\n坏词\tvn\n")
    with pytest.raises(StandardError) as caught:
        characters.predict([["我们"]], lexicon=Lexicon.read(path))
    assert caught.value.message.startswith(f"{path}:2: the lexicon's word '坏词' has the tag 'vn'")
    assert caught.value.hint == f"the tags of ctb are {' '.join(sorted(characters.encoding_.tags or ()))}"


def test_a_model_that_only_segments_ignores_tags() -> None:
    tagger = Tagger("ctb", level="char", segment_only=True, learning=AdaGrad(iterations=1)).fit(CORPUS)
    assert ("天去北", None) in analyse(tagger, "我们明天去北京", Lexicon([Entry("天去北", ("vn",))]))


def test_constraints_that_cannot_be_met_are_logged(
    characters: Tagger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = np.array([characters.encoding_.number["E@NN"]], np.int32)
    contradiction = _native.Constraints(_native.TagSets(np.array([0, 1, 1], np.int32), end), *NO_BONUS)
    monkeypatch.setattr(ConstraintBuilder, "constraints", lambda *_: {"ctb": contradiction})
    with caplog.at_level(logging.WARNING, "duilian"):
        layer = characters.predict_layers([["明天"]], lexicon=Lexicon(["明天"]))[0]
    assert layer == characters.predict_layers([["明天"]])[0]
    assert "1 sentence could not be analysed with the lexicon's words" in caplog.text


def test_no_sentences_and_empty_ones(characters: Tagger) -> None:
    lexicon = Lexicon(["明天"])
    assert characters.predict_layers([], lexicon=lexicon) == []
    assert characters.predict_layers([[], ["明天"]], lexicon=lexicon)[0].words == ()


def test_a_tagger_learns_from_lexicon_columns(tmp_path: Path) -> None:
    lexicon = Lexicon(["星河", "山海"])
    templates = write(tmp_path / "lexicon.txt", "t[-1]\n@lexicon[0]\n@lexicon_tag[0]\n")

    def layer(words: Sequence[str]) -> Layer:
        columns = lexicon.columns(list("".join(words)))
        return Layer(tuple(words), columns={name: tuple(values) for name, values in columns.items()})

    taught = [layer(words.split()) for words in ("我 爱 星河", "星河 好", "他 看 星河 了")]
    tagger = Tagger(
        level="char",
        segment_only=True,
        features=Features(templates=str(templates)),
        learning=AdaGrad(iterations=10),
    ).fit(taught)
    assert tagger.predict_layers([layer(["去山海吧"])])[0].words == ("去", "山海", "吧")
