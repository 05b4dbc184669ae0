"""Round trips through annotation tools: exported, edited by a script as the tool would, and read again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.corpus import Layer, Sentence, guess_format, read, write
from duilian.corpus.formats.spans import AnnotatedText, Arc, Span
from duilian.corpus.merging import MergeReport, merge
from duilian.document import Doc
from duilian.document.word_table import WordTable
from duilian.errors import CorpusError
from duilian.views import FORMS

TEXT = "他 去😀办公室。好！"
WORDS = ("他", "去", "😀", "办公", "室", "。", "好", "！")
TAGS = ("PRON", "VERB", "SYM", "NOUN", "PART", "PUNCT", "ADJ", "PUNCT")
HEADS = (2, 0, 2, 5, 2, 2, 0, 1)
RELATIONS = ("nsubj", "root", "discourse", "case:suff", "obj", "punct", "root", "punct")
FIRST = Layer(WORDS[:6], TAGS[:6], HEADS[:6], RELATIONS[:6], (" ", "", "", "", "", ""))
SECOND = Layer(WORDS[6:], TAGS[6:], HEADS[6:], RELATIONS[6:])


def analysed() -> Doc:
    starts = [0, 2, 3, 4, 6, 7, 8, 9]
    ends = [1, 3, 4, 6, 7, 8, 9, 10]
    table = WordTable(
        starts,
        ends,
        sentence=[0, 6, 8],
        tags=list(TAGS),
        heads=np.array(HEADS),
        relations=list(RELATIONS),
    )
    return Doc(TEXT, {"ud": table})


def exported(form: str) -> str:
    """What `duilian analyze --to FORM` writes for the text."""
    writer = FORMS[form]("ud")
    return writer.begin("") + writer.text(analysed()) + writer.end()


def layers(path: Path, **how: Any) -> list[Layer]:
    return [sentence["ud"] for sentence in read(path, standard="ud", **how)]


def label_studio(
    path: Path, edit: Callable[[list[dict[str, Any]]], None] = lambda result: None, **more: Any
) -> Path:
    """Accept the prediction of every task as Label Studio does, edit it, and export."""
    tasks = json.loads(exported("label-studio"))
    for number, task in enumerate(tasks, start=1):
        result = [{**each, "origin": "manual"} for each in task["predictions"][0]["result"]]
        edit(result)
        task |= {"id": number, "annotations": [{"id": 7, "was_cancelled": False, "result": result, **more}]}
    path.write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf-8")
    return path


def relabel(result: list[dict[str, Any]]) -> None:
    """Give 😀 two possible tags, open the tag of 好, and take the arc of 他 away."""
    result[2]["value"]["labels"] = ["SYM", "X"]
    result[6]["value"]["labels"] = []
    result[:] = [each for each in result if each.get("to_id") != "w1"]


def test_an_accepted_prediction_of_label_studio_is_the_analysis(tmp_path: Path) -> None:
    path = label_studio(tmp_path / "export.json")
    assert guess_format(path) == "label-studio"
    assert layers(path) == [FIRST, SECOND]
    assert [sentence.id for sentence in read(path, standard="ud")] == ["1.1", "1.2"]


def test_what_annotators_leave_open_is_partial_annotation(tmp_path: Path) -> None:
    first, second = layers(label_studio(tmp_path / "export.json", relabel))
    assert first.tags == (*TAGS[:2], frozenset({"SYM", "X"}), *TAGS[3:6])
    assert first.heads == (None, None, 2, 5, 2, 2), "他 or 去: nobody says which is the root"
    assert first.relations == (None, None, *RELATIONS[2:6])
    assert second == Layer(WORDS[6:], (None, "PUNCT"), (0, 1), ("root", "punct"))


def test_words_joined_in_label_studio_are_one_word(tmp_path: Path) -> None:
    def join(result: list[dict[str, Any]]) -> None:
        result[3]["value"] |= {"end": 7, "text": "办公室"}
        result[:] = [each for each in result if "w5" not in (each.get(key) for key in ("id", "from_id"))]
        for each in result:
            if each.get("to_id") == "w5":
                each["to_id"] = "w4"

    first, _ = layers(label_studio(tmp_path / "export.json", join))
    assert first.words == ("他", "去", "😀", "办公室", "。")
    assert (first.heads, first.relations) == (
        (2, 0, 2, 2, 2),
        ("nsubj", "root", "discourse", "obj", "punct"),
    )


def test_offsets_in_utf_16_are_understood(tmp_path: Path) -> None:
    def as_in_a_browser(result: list[dict[str, Any]]) -> None:
        for each in result:
            for key in ("start", "end"):
                if "value" in each:
                    each["value"][key] = len(TEXT[: each["value"][key]].encode("utf-16-le")) // 2

    assert layers(label_studio(tmp_path / "export.json", as_in_a_browser)) == [FIRST, SECOND]


def test_of_several_annotations_one_counts(tmp_path: Path) -> None:
    path = label_studio(tmp_path / "export.json")
    (task,) = json.loads(path.read_text(encoding="utf-8"))
    whole = task["annotations"][0]
    open_tags = {"result": json.loads(json.dumps(whole["result"]))}
    relabel(open_tags["result"])

    def found(*annotations: dict[str, Any]) -> list[Layer]:
        tasks = [task, {**task, "id": 2, "annotations": list(annotations)}]
        path.write_text(json.dumps(tasks), encoding="utf-8")
        return layers(path)[2:]

    assert found(open_tags, whole) == [FIRST, SECOND]
    assert found(whole | {"ground_truth": True}, open_tags) == [FIRST, SECOND]
    assert found(whole, open_tags | {"was_cancelled": True}) == [FIRST, SECOND]
    assert found(whole | {"was_cancelled": True}) == found() == [], "nobody has annotated it"


def test_the_short_export_of_label_studio_has_words_and_tags(tmp_path: Path) -> None:
    (task,) = json.loads(label_studio(tmp_path / "export.json").read_text(encoding="utf-8"))
    result = task["annotations"][0]["result"]
    labels = [each["value"] for each in result if each["type"] == "labels"]
    short = [{"id": 1, "text": TEXT, "label": labels, "annotator": 1, "annotation_id": 7}]
    path = tmp_path / "short.json"
    path.write_text(json.dumps(short, indent=2), encoding="utf-8")
    assert guess_format(path) == "label-studio"
    assert layers(path) == [
        Layer(FIRST.words, FIRST.tags, spaces=FIRST.spaces),
        Layer(SECOND.words, SECOND.tags),
    ]


def test_a_doccano_export_is_read_back(tmp_path: Path) -> None:
    line = json.loads(exported("spans"))
    line["id"] = 12
    line["label"][6][2] = "WORD"
    line["label"].append([3, 4, "X"])  # doccano allows two labels at one place
    path = tmp_path / "all.jsonl"
    unread = {"id": 13, "text": "没看。", "label": []}
    path.write_text(f"{json.dumps(line)}\n{json.dumps(unread)}\n", encoding="utf-8")
    first, second = layers(path, format="doccano")
    assert first.tags == (*TAGS[:2], frozenset({"SYM", "X"}), *TAGS[3:6])
    assert (second.words, second.tags, second.heads) == (WORDS[6:], (None, "PUNCT"), None)
    same = tmp_path / "all.json"
    path.rename(same)
    assert guess_format(same) == "doccano"


def test_relations_of_doccano_are_trees(tmp_path: Path) -> None:
    spans = json.loads(exported("spans"))["label"]
    entities = [
        {"id": 100 + k, "label": tag, "start_offset": a, "end_offset": b}
        for k, (a, b, tag) in enumerate(spans)
    ]
    firsts = [0] * 6 + [6] * 2
    arcs = [
        {"id": k, "from_id": 100 + first + head - 1, "to_id": 100 + k, "type": relation}
        for k, (first, head, relation) in enumerate(zip(firsts, HEADS, RELATIONS, strict=True))
        if head
    ]
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"text": TEXT, "entities": entities, "relations": arcs}), encoding="utf-8")
    assert layers(path) == [FIRST, SECOND]


def brat_files(folder: Path, ann: str) -> Path:
    (folder / "news.txt").write_text(TEXT + "\n", encoding="utf-8")
    (folder / "news.ann").write_text(ann, encoding="utf-8")
    return folder / "news.ann"


def test_brat_files_are_read_back(tmp_path: Path) -> None:
    notes = "#1\tAnnotatorNotes T1\tsure?\nA1\tNegation T2\n*\tEquiv T1 T2\n"
    path = brat_files(tmp_path, exported("brat") + notes)
    assert layers(path) == [FIRST, SECOND]
    edited = re.sub(r"(T7\t)ADJ", r"\1WORD", exported("brat"))
    edited = re.sub(r"R1\t.*\n", "", edited)
    first, second = layers(brat_files(tmp_path, edited))
    assert first.heads == (None, None, 2, 5, 2, 2)
    assert second.tags == (None, "PUNCT")


def test_brat_names_are_tags_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("好，", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tJJ 0 1\t好\nT2\tCOMMA 1 2\t，\n", encoding="utf-8")
    (found,) = read(tmp_path / "a.ann", standard="gsd")
    assert found["gsd"].tags == ("JJ", ",")


def conllu(sentences: list[Sentence], folder: Path) -> str:
    write(sentences, folder / "a.conllu", standard="ud")
    return (folder / "a.conllu").read_text(encoding="utf-8")


def test_inception_and_arborator_give_conllu_back(tmp_path: Path) -> None:
    """INCEpTION drops ids and has _ where there is no arc; Arborator-Grew adds its own comments."""
    sentences = [Sentence({"ud": FIRST}, "s1"), Sentence({"ud": SECOND}, "s2")]
    text = conllu(sentences, tmp_path)
    inception = re.sub(r"# sent_id.*\n", "", text)
    inception = inception.replace("1\t他\t_\tPRON\t_\t_\t2\tnsubj", "1\t他\t_\tPRON\t_\t_\t_\t_")
    arborator = text.replace("# sent_id", "# user_id = anna\n# timestamp = 1795000000\n# sent_id")
    arborator = arborator.replace("\t5\tcase:suff", "\t5\tcompound")
    for name, edited in (("i.conllu", inception), ("a.conllu", arborator)):
        (tmp_path / name).write_text(edited, encoding="utf-8")
    first, second = layers(tmp_path / "i.conllu")
    assert (first.heads, first.relations) == ((None, *HEADS[1:6]), (None, *RELATIONS[1:6]))
    report = MergeReport()
    merged = list(merge(sentences, read(tmp_path / "a.conllu", standard="ud"), "ud", report))
    assert merged[0]["ud"].relations == (*RELATIONS[:3], "compound", *RELATIONS[4:6])
    assert (merged[0]["ud"].spaces, merged[1]["ud"], report.heads) == (FIRST.spaces, SECOND, 1)
    again = list(merge(sentences, read(tmp_path / "i.conllu", standard="ud"), "ud", report := MergeReport()))
    assert (again[0]["ud"], report.heads, second.heads) == (FIRST, 0, SECOND.heads), "an open head stays"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda result: result.pop(4), "no word has '室' at 6 to 7"),
        (
            lambda result: result[4]["value"].update(start=5, text="公室"),
            "'公室' overlaps the word before it",
        ),
        (lambda result: result[4]["value"].update(start=5), "a region does not have the text at its place"),
        (lambda result: result[4]["value"].update(end=99), "a region does not have the text at its place"),
        (lambda result: result[4]["value"].pop("end"), "a region has no offsets"),
        (lambda result: result[0]["value"].update(labels=[3]), "expected labels, found [3]"),
        (lambda result: result[8].update(to_id="w9"), "an arc leads to 'w9', which is no word"),
        (lambda result: result[9].update(to_id="w1"), "'他' has two heads"),
        (lambda result: result[8].update(from_id="w1"), "word 1 is its own head"),
    ],
)
def test_what_is_wrong_in_a_task_is_one_sentence(edit: Any, message: str, tmp_path: Path) -> None:
    path = label_studio(tmp_path / "export.json", edit)
    with pytest.raises(CorpusError, match=re.escape(f"task 1: {message}")):
        layers(path)


def test_a_lenient_read_keeps_the_other_tasks(tmp_path: Path) -> None:
    path = label_studio(tmp_path / "export.json")
    (task,) = json.loads(path.read_text(encoding="utf-8"))
    tasks = [{"id": 8}, 3, task, {"data": {"text": 5}, "annotations": []}]
    path.write_text(json.dumps(tasks), encoding="utf-8")
    found = read(path, standard="ud", format="label-studio", lenient=True)
    assert [sentence["ud"] for sentence in found] == [FIRST, SECOND]
    assert "task 8: expected text in the field text (2 more tasks are wrong)" in found.problems[0]


@pytest.mark.parametrize(
    "text", ["", "{}", "[", "[" * 100_000, '[{"data": {"text": "好"}, "annotations": 3}]']
)
def test_no_json_of_label_studio_is_a_traceback(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError):
        read(tmp_path / "a.json", standard="ud", format="label-studio")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3", "expected an object"),
        ("{", "not a line of JSON"),
        ('{"label": []}', "expected text in the field text"),
        ('{"text": "好", "label": [[0, 1]]}', "expected a label as"),
        ('{"text": "好", "label": [["a", 1, "n"]]}', "a label has no offsets"),
        ('{"text": "好", "label": [[0, 2, "n"]]}', "a span from 0 to 2 is not in the text (1 character)"),
        ('{"text": "好", "entities": [3]}', "expected objects in the field entities"),
        ('{"text": "好", "label": 3}', "expected a list in the field label"),
    ],
)
def test_what_is_wrong_in_a_line_of_doccano_is_one_sentence(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=re.escape(f"a.json:1: {message}")):
        read(tmp_path / "a.json", standard="ud", format="doccano")


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        ("T1\tNOUN 0 1\t她\n", "T1 is '她', but the text has '他'"),
        ("T1\tNOUN 0 1;2 3\t他去\n", "expected a T or R line of brat"),
        ("好\n", "expected a T or R line of brat"),
        ("T1\tPRON 0 1\t他\n", "no word has '去😀办公室。好！'"),
    ],
)
def test_what_is_wrong_in_brat_is_one_sentence(ann: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=re.escape(message)):
        layers(brat_files(tmp_path, ann))


def test_brat_needs_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("T1\tNOUN 0 1\t他\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=re.escape("a.txt")):
        layers(tmp_path / "a.ann")


def test_foreign_tags_are_told_of_in_any_sentence_of_a_line(tmp_path: Path, caplog: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '\n{"text": "好。坏！", "label": [[0,1,"ADJ"],[1,2,"PUNCT"],[2,3,"BAD"],[3,4,"PUNCT"]]}\n'
    )
    layers(path)
    assert "a.json:2: 坏_BAD" in caplog.text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
def test_sentences_come_back_in_any_order_of_spans(sizes: list[list[int]], random: Any) -> None:
    """Words of some sentences, with random trees: however a tool orders spans and arcs, they are the same."""
    spans: dict[str, Span] = {}
    arcs, text, expected = [], "", []
    for lengths in sizes:
        first, words = len(spans), ["好" * length for length in lengths] + ["。"]
        order = random.sample(range(len(words)), len(words))
        heads: list[int] = [0] * len(words)
        for k, word in enumerate(order[1:], start=1):
            heads[word] = random.choice(order[:k]) + 1
            arcs.append(Arc(f"w{first + heads[word] - 1}", f"w{first + word}", "dep"))
        for word in words:
            spans[f"w{len(spans)}"] = Span(len(text), len(text) + len(word), frozenset({"X"}))
            text += word
        relations = tuple("dep" if head else "root" for head in heads)
        expected.append(Layer(tuple(words), ("X",) * len(words), tuple(heads), relations))
    shuffled = dict(random.sample(list(spans.items()), len(spans)))
    random.shuffle(arcs)
    assert [each["ud"] for each in AnnotatedText(text, shuffled, arcs).sentences("ud")] == expected
