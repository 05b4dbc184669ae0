"""Small corpora of our own, and hypothesis strategies for sentences, one for each format."""

from __future__ import annotations

from hypothesis import strategies as st

from duilian.corpus import Entity, Layer, Sentence

SLASH = (
    "20260101-01-001-001/m  [北湖/n  电台/n]nt  的{de5}/u  早/a  新闻/n  。/w\n"
    "他/r  说/v  ：/w  “/w  来/v  ！/w  ”/w  走/{v|vn}  吧/?\n"
    "1/2/m  //w  ／/w  [/w  ]/w\n"
)
UNDERSCORE = "<S ID=1>\n他_PN 来_VV 了_SP 。_PU\n</S>\n她_PN 去_{VC|VV} 哪儿_? __PU\n"
SEGMENTED = "他  来  了  。\n山  高  水  长\n"
CONLLU = (
    "# sent_id = s1\n# text = 他来 了\n"
    "1\t他\t他\tPRON\tPN\t_\t2\tnsubj\t_\tSpaceAfter=No\n"
    "2-3\t来了\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\t来\t来\tVERB\tVV\t_\t0\troot\t_\t_\n"
    "2.1\t就\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "3\t了\t了\tAUX\tAS\t_\t2\taux\t_\tSpaceAfter=No|Gloss=done\n\n"
    "# sent_id = s2\n# text = 好\n1\t好\t好\tADJ\tJJ\t_\t0\troot\t_\tSpaceAfter=No\n\n"
)
CONLLX = (
    "1\t他\t_\tPN\tPN\t_\t2\t_\t_\t_\n2\t来\t_\tVV\tVV\t_\t0\t_\t_\t_\n\n"
    "1\t走\t_\tVV\tVV\t_\t_\t_\t_\t_\n2\t吧\t_\t_\tSP\t_\t_\t_\t_\t_\n\n"
)
COLUMNS = "他 PN B-NP\n来 VV B-VP\n了 AS {I-VP|O}\n\n好 JJ _\n吧 SP O\n\n"
JSONLINES = (
    '{"id":"1","comments":["# a"],"layers":{"pku":{"words":["他","来了"],"tags":["r",["v","vn"]],'
    '"heads":[2,0],"relations":["nsubj",null],"spaces":[""," "],"entities":[[0,1,"nr"]]},'
    '"ctb":{"words":["他","来","了"],"tags":["PN",null,"SP"],"columns":{"pinyin":["ta1","","le5"]}}}}\n'
)

SAMPLES = {
    "slash": SLASH,
    "underscore": UNDERSCORE,
    "segmented": SEGMENTED,
    "conllu": CONLLU,
    "conllx": CONLLX,
    "columns": COLUMNS,
    "jsonl": JSONLINES,
}


def numbered(text: str) -> list[tuple[int, str]]:
    """Numbered lines, as readers take them."""
    return list(enumerate(text.removesuffix("\n").split("\n"), start=1))


def text_without(unsafe: str) -> st.SearchStrategy[str]:
    """Non-empty text: often characters with a special meaning in some format, sometimes anything."""
    plain = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n" + unsafe)
    signs = "".join(sign for sign in "[]{}\\/_?|<>#-.=:10a他，。😀𠀀e\u0301\u3000 \t" if sign not in unsafe)
    return st.text(st.sampled_from(signs) | plain, min_size=1, max_size=6)


def tags_without(unsafe: str) -> st.SearchStrategy[str | frozenset[str] | None]:
    def is_plain(tag: str) -> bool:
        return tag not in ("?", "_") and not (tag[0] == "{" and tag[-1] == "}")

    names = st.sampled_from(["n", "v", "PU", "-NONE-"]) | text_without(unsafe).filter(is_plain)
    return st.none() | names | st.frozensets(text_without(unsafe + "|"), min_size=1, max_size=3)


def _known(values: list) -> tuple | None:
    """A layer has None where the whole sentence is not annotated."""
    return None if all(value is None for value in values) else tuple(values)


@st.composite
def inline_sentences(draw: st.DrawFn, sign: str) -> Sentence:
    words = draw(st.lists(text_without(" \t"), min_size=1, max_size=6))
    unsafe = " \t]" + sign
    tags = draw(st.lists(tags_without(unsafe), min_size=len(words), max_size=len(words)))
    return Sentence({"x": Layer(tuple(words), _known(tags))})


@st.composite
def slash_sentences(draw: st.DrawFn) -> Sentence:
    layer = draw(inline_sentences("/"))["x"]
    count = len(layer)
    readings = tuple(draw(st.lists(st.just("") | text_without(" \t{}"), min_size=count, max_size=count)))
    seams = sorted(draw(st.sets(st.integers(0, count), max_size=4)))
    labels = text_without(" \t]/")
    names = [Entity(a, b, draw(labels)) for a, b in zip(seams[::2], seams[1::2], strict=False)]
    columns = {"pinyin": readings} if any(readings) else {}
    id = draw(st.sampled_from(["", "20260101-01-001-001", "20260101-01-001-001.2"]))
    return Sentence({"x": Layer(layer.words, layer.tags, columns=columns, entities=tuple(names))}, id)


@st.composite
def underscore_sentences(draw: st.DrawFn) -> Sentence:
    id = draw(st.just("") | st.text(st.sampled_from("a1. -='中"), min_size=1))
    return Sentence(draw(inline_sentences("_")).layers, id)


@st.composite
def row_sentences(draw: st.DrawFn, column: str, more: tuple[str, ...]) -> Sentence:
    count = draw(st.integers(1, 5))

    def many(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=count, max_size=count))

    field = text_without("\t")
    other = "xpos" if column == "upos" else "upos"
    places = list(range(count + 1))
    # Each word depends on an earlier one in some order of the words, so that heads form no cycle.
    order = draw(st.permutations(places[1:]))
    heads = [draw(st.none() | st.sampled_from([0, *order[: order.index(n)]])) for n in places[1:]]
    relations = many(st.none() | field.filter(lambda name: name != "_"))
    columns = {name: tuple(many(st.just("_") | field)) for name in ("lemma", other, "feats", *more)}
    layer = Layer(
        tuple(many(field)),
        _known(many(tags_without("\t"))),
        _known(heads),
        _known(relations),
        columns=columns,
    )
    id = draw(st.just("") | st.text(st.sampled_from("a1.-=中"), min_size=1))
    comments = (f"# sent_id = {id}",) if id else ()
    return Sentence(
        {"x": layer}, id, (*comments, *draw(st.lists(st.sampled_from(["# a b", "#"]), max_size=2)))
    )


@st.composite
def column_sentences(draw: st.DrawFn) -> Sentence:
    count = draw(st.integers(1, 5))
    fields = st.lists(text_without(" \t"), min_size=count, max_size=count)
    tags = draw(st.lists(tags_without(" \t"), min_size=count, max_size=count))
    return Sentence({"x": Layer(tuple(draw(fields)), _known(tags), columns={"pos": tuple(draw(fields))})})


@st.composite
def segmented_sentences(draw: st.DrawFn) -> Sentence:
    return Sentence({"x": Layer(tuple(draw(st.lists(text_without(" \t\u3000"), min_size=1))))})


@st.composite
def free_layers(draw: st.DrawFn, text: str) -> Layer:
    seams = sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=5))) if len(text) > 1 else []
    words = tuple(text[a:b] for a, b in zip([0, *seams], [*seams, len(text)], strict=True))
    count = len(words)

    def maybe(values: st.SearchStrategy) -> tuple | None:
        return draw(st.none() | st.lists(values, min_size=count, max_size=count).map(tuple))

    any_text = st.text(st.characters(exclude_categories=["Cs"]))
    column = maybe(any_text)
    starts = draw(st.lists(st.integers(0, count - 1), max_size=2))
    return Layer(
        words,
        maybe(st.none() | any_text | st.frozensets(any_text, min_size=1)),
        maybe(st.none() | st.integers(0, count)),
        maybe(st.none() | any_text),
        maybe(any_text),
        {} if column is None else {draw(any_text): column},
        tuple(Entity(start, count, draw(any_text)) for start in starts),
        tuple((start, draw(any_text)) for start in starts),
    )


@st.composite
def free_sentences(draw: st.DrawFn) -> Sentence:
    """Any kind of sentence: several layers, everything partial."""
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
    any_text = st.text(st.characters(exclude_categories=["Cs"]))
    names = draw(st.lists(any_text, min_size=1, max_size=3, unique=True))
    layers = {name: draw(free_layers(text)) for name in names}
    return Sentence(layers, draw(any_text), tuple(draw(st.lists(any_text, max_size=2))))


SENTENCES = {
    "slash": slash_sentences(),
    "underscore": underscore_sentences(),
    "segmented": segmented_sentences(),
    "conllu": row_sentences("upos", ("deps", "misc")),
    "conllx": row_sentences("upos", ("phead", "pdep")),
    "columns": column_sentences(),
    "jsonl": free_sentences(),
}
