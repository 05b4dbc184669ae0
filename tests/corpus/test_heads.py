"""Head-finding: our own trees with heads worked out by hand, and laws for any tree and any rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.corpus.formats.brackets import Tree, trees_with_ids
from duilian.corpus.heads import HeadRules, Step, to_dependencies
from duilian.errors import ConfigError

PUBLISHED = HeadRules.load()

# A tree, its words with their heads (0 is the root).
BY_HAND = {
    "object with a classifier": (
        "(IP (NP-SBJ (PN 他)) (NP-TMP (NT 昨天)) (VP (VV 买) (AS 了)"
        " (NP-OBJ (QP (CD 三) (CLP (M 本))) (NP (NN 书)))) (PU 。))",
        "他3 昨天3 买0 了3 三6 本7 书3 。3",
    ),
    "localiser, 的 and an adjective": (
        "(IP (NP-SBJ (DNP (LCP (NP (NN 桌子)) (LC 上)) (DEG 的)) (NP (NN 花)))"
        " (VP (ADVP (AD 很)) (VP (VA 漂亮))))",
        "桌子2 上3 的4 花6 很6 漂亮0",
    ),
    "relative clause with traces": (
        "(IP (NP-SBJ (CP (WHNP-1 (-NONE- *OP*)) (CP (IP (NP-SBJ (PN 我))"
        " (VP (VV 喜欢) (NP-OBJ (-NONE- *T*-1)))) (DEC 的))) (NP (NN 老师)))"
        " (VP (VV 来自) (NP-PN-OBJ (NR 上海))))",
        "我2 喜欢4 的2 老师5 来自0 上海5",
    ),
    "prepositional phrase and resultative": (
        "(IP (NP-SBJ (NR 小王)) (VP (PP-LOC (P 在) (LCP (NP (NN 学校)) (LC 里)))"
        " (VP (VRD (VV 看) (VV 完)) (AS 了) (NP-OBJ (DP (DT 那) (CLP (M 封))) (NP (NN 信))))) (PU 。))",
        "小王5 在5 学校4 里2 看0 完5 了5 那10 封8 信5 。5",
    ),
    "adverbial with 地": (
        "(IP (NP (NN 孩子们)) (VP (DVP (VP (VA 高兴)) (DEV 地)) (VP (VV 唱) (NP (NN 歌)))))",
        "孩子们4 高兴3 地4 唱0 歌4",
    ),
    "coordinated nouns take the last": (
        "(IP (NP-SBJ (NN 苹果) (PU 、) (NN 梨) (CC 和) (NN 桃子))"
        " (VP (ADVP (AD 都)) (VP (VC 是) (NP-PRD (NN 水果)))) (PU 。))",
        "苹果5 、5 梨5 和5 桃子7 都7 是0 水果7 。7",
    ),
    "coordinated clauses take the last": (
        "(IP (IP (NP (NN 雨)) (VP (VV 停) (AS 了))) (PU ，)"
        " (IP (NP (PN 我们)) (VP (ADVP (AD 就)) (VP (VV 出发)))) (PU 。))",
        "雨2 停7 了2 ，7 我们7 就7 出发0 。7",
    ),
    "coordinated verbs take the first": (
        "(IP (NP (PN 她)) (VP (VP (VV 唱) (NP (NN 歌))) (PU 、) (VP (VV 跳舞))))",
        "她2 唱0 歌2 、2 跳舞2",
    ),
    "a parenthesis hangs on its opening mark": (
        "(IP (NP (NP (NR 李明)) (PRN (PU （) (NP (NN 组长)) (PU ）))) (VP (VV 到)) (SP 了))",
        "李明5 （1 组长2 ）2 到0 了5",
    ),
    "priority goes before direction": (
        "(IP (NP (NN 老师) (NR 李明)) (VP (VV 来)) (SP 了))",
        "老师3 李明1 来0 了3",
    ),
    "fragment": ("(FRAG (NN 本社) (NR 长沙) (NT 五月) (NN 电) (PU ：))", "本社2 长沙0 五月2 电2 ：2"),
    "a clause as object, and existence": (
        "(IP (NP (PN 大家)) (VP (VV 知道)"
        " (IP-OBJ (NP-TMP (NT 明天)) (VP (VE 有) (NP-OBJ (ADJP (JJ 大)) (NP (NN 雪)))))))",
        "大家2 知道0 明天4 有2 大6 雪4",
    ),
    "one word": ("(NN 书)", "书0"),
    "one mark": ("( (FRAG (PU 。)) )", "。0"),
    "nothing but marks": ("(FRAG (PU …) (PU …))", "…2 …0"),
}

ONE_RULE = [
    ("(ADJP (ADVP (AD 最)) (JJ 大))", 2),
    ("(ADJP (JJ 大) (PU 、) (JJ 小))", 3),
    ("(ADVP (AD 不) (AD 太))", 2),
    ("(CP (IP (VV 来)) (SP 吗) (PU ？))", 1),
    ("(DNP (QP (CD 三)) (DEC 的))", 2),
    ("(DNP (NP (NN 书)) (DEG 的) (PU ，))", 2),
    ("(DP (DT 这) (M 个))", 2),
    ("(DP (OD 首) (CLP (M 次)))", 1),
    ("(DP (DP (DT 这)) (CC 或) (DP (DT 那)))", 1),
    ("(LST (PU （) (CD 一) (PU ）))", 2),
    ("(NP (NN 书) (ETC 等))", 1),
    ("(NP (PN 我) (PN 自己))", 2),
    ("(NN (NN 工) (NN 农))", 2),
    ("(PP (ADVP (AD 就)) (PP (P 在) (NP (NN 家))))", 2),
    ("(PP (P 除) (PP (P 在) (NP (NN 家))))", 1),
    ("(QP (CD 三) (CLP (M 本)))", 2),
    ("(QP (QP (CD 三)) (CLP (M 本)))", 1),
    ("(UCP (NP (NN 书)) (CC 和) (IP (VV 来)))", 3),
    ("(VCD (VV 投资) (VV 办厂))", 1),
    ("(VP (BA 把) (IP (NP (NN 门)) (VP (VV 关))))", 1),
    ("(VPT (VV 看) (AD 不) (VV 见))", 1),
    ("(VPT (VV 看) (DER 得) (VA 清))", 3),
    ("(VRD (VA 热) (VV 坏))", 2),
    ("(VSB (VV 开会) (VV 讨论))", 2),
    ("(VNV (VV 去) (AD 不) (VV 去))", 3),
    ("(VCP (VV 称) (VC 为))", 2),
    ("(INTJ (IJ 啊) (PU ！))", 2),
]


def tree_of(text):
    ((_, tree),) = trees_with_ids([(1, text)], "ours")
    return tree


@pytest.mark.parametrize(("text", "expected"), BY_HAND.values(), ids=BY_HAND.keys())
def test_heads_worked_out_by_hand(text, expected):
    tree = tree_of(text)
    heads = to_dependencies(tree, PUBLISHED)
    assert " ".join(f"{leaf.word}{head}" for leaf, head in zip(tree.leaves(), heads, strict=True)) == expected


@pytest.mark.parametrize(("text", "root"), ONE_RULE, ids=[text for text, _ in ONE_RULE])
def test_the_root_that_a_published_rule_chooses(text, root):
    assert to_dependencies(tree_of(text), PUBLISHED).index(0) + 1 == root


def test_functional_tags_do_not_hide_a_label_from_the_rules():
    leaf = Tree("NN-SHORT", word="书")
    tree = Tree("NP-SBJ", (leaf, Tree("NR-2", word="李"), Tree("PN", word="他")))
    assert to_dependencies(tree, PUBLISHED) == [0, 1, 1]


def test_every_published_entry_is_there():
    listed = " ".join(sorted(PUBLISHED.steps))
    assert listed == "ADJP ADVP CLP CP DNP DP DVP FRAG IP LCP LST NN NP PP PRN QP UCP VCD VP VPT VRD VSB"
    assert PUBLISHED.default == (Step(True),)
    assert PUBLISHED.steps["DP"] == (Step(True, ("M",)), Step(False, ("DP", "DT", "OD")), Step(False))


LABELS = ["IP", "NP", "VP", "PP", "DP", "CP", "PRN", "VRD", "UNHEARD-OF"]
TAGS = ["NN", "VV", "PU", "P", "M", "DT", "NR", "DEC"]
random_trees = st.recursive(
    st.sampled_from(TAGS).map(lambda tag: Tree(tag, word="字")),
    lambda children: st.builds(
        lambda label, kids: Tree(label, tuple(kids)),
        st.sampled_from(LABELS),
        st.lists(children, min_size=1, max_size=4),
    ),
    max_leaves=14,
)
random_steps = st.builds(
    lambda tried, last: (*tried, last),
    st.lists(st.builds(Step, st.booleans(), st.lists(st.sampled_from(LABELS + TAGS), min_size=1).map(tuple))),
    st.builds(Step, st.booleans()),
)
random_rules = st.just(PUBLISHED) | st.builds(
    HeadRules, st.dictionaries(st.sampled_from(LABELS), random_steps), random_steps
)


def ancestors(heads, word):
    """The words above a word, nearest first; fails on a cycle."""
    found = []
    while (word := heads[word - 1]) != 0:
        assert word not in found
        found.append(word)
    return found


def has_one_root_and_no_cycle(tree, heads):
    assert len(heads) == len(list(tree.leaves()))
    assert heads.count(0) == 1
    for word in range(1, len(heads) + 1):
        ancestors(heads, word)


def has_no_two_arcs_that_cross(tree, heads):
    arcs = [sorted((head, word)) for word, head in enumerate(heads, start=1)]
    for left, right in arcs:
        assert not any(left < a < right < b or a < left < b < right for a, b in arcs)


def has_words_between_head_and_dependent_below_the_head(tree, heads):
    for word, head in enumerate(heads, start=1):
        if head != 0:
            assert all(head in ancestors(heads, w) for w in range(min(word, head) + 1, max(word, head)))


def spans(tree, start=1):
    """First and last word of every constituent."""
    end = start
    for child in tree.children:
        yield from spans(child, end)
        end += len(list(child.leaves()))
    yield start, max(end - 1, start)


def has_one_way_out_of_every_constituent(tree, heads):
    for first, last in spans(tree):
        assert sum(not first <= heads[word - 1] <= last for word in range(first, last + 1)) == 1


def naive_dependencies(tree, rules):
    """The recursive twin: the plain reading of the definition."""
    heads = {}

    def head_word(node):
        if node.word is not None:
            heads[len(heads) + 1] = 0
            return len(heads)
        words = [head_word(child) for child in node.children]
        labels = [child.label.split("-")[0] for child in node.children]
        head = words[naive_choice(rules.steps.get(node.label.split("-")[0], rules.default), labels)]
        heads.update({word: head for word in words if word != head})
        return head

    head_word(tree)
    return list(heads.values())


def naive_choice(steps, labels):
    ranked = [
        (number, step.labels.index(label) if step.labels else 0, -index if step.is_from_right else index)
        for number, step in enumerate(steps)
        for index, label in enumerate(labels)
        if not step.labels or label in step.labels
    ]
    return abs(min(ranked)[2])


@given(random_trees, random_rules)
def test_heads_equal_the_recursive_twin_and_keep_the_laws(tree, rules):
    """All laws on the same trees: drawing a tree takes far longer than checking it."""
    heads = to_dependencies(tree, rules)
    assert heads == naive_dependencies(tree, rules)
    has_one_root_and_no_cycle(tree, heads)
    has_no_two_arcs_that_cross(tree, heads)
    has_words_between_head_and_dependent_below_the_head(tree, heads)
    has_one_way_out_of_every_constituent(tree, heads)


def test_ten_thousand_levels_need_no_recursion():
    tree = Tree("NN", word="书")
    for _ in range(10_000):
        tree = Tree("NP", (Tree("JJ", word="大"), tree))
    assert to_dependencies(tree, PUBLISHED) == [10_001] * 10_000 + [0]


def test_a_table_may_come_from_a_file(tmp_path):
    table = tmp_path / "left.txt"
    table.write_text("# ours\nNP\tl  NN # the first noun\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"left\.txt:2: the rule for 'NP' finds no head"):
        HeadRules.load(table)
    table.write_text("# ours\n\nNP\tl  NN;l # the first noun\ndefault l\n", encoding="utf-8")
    for name in (table, str(table)):
        assert to_dependencies(tree_of("(NP (PU “) (NN 书) (NN 店))"), HeadRules.load(name)) == [2, 0, 2]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["NP r NN", "default r"], "t:1: the rule for 'NP' finds no head among children it does not list"),
        (
            ["default r", "NP r; l NN; l"],
            "t:2: the rule for 'NP' goes on after a step that always finds a head",
        ),
        (["NP x NN; r", "default r"], "t:1: a step must begin with 'l'"),
        (["NP NN; r", "default r"], "not 'NN'"),
        (["", "NP", "default r"], "t:2: the rule for 'NP' has an empty step"),
        (["NP r NN;; r", "default r"], "t:1: the rule for 'NP' has an empty step"),
        (["NP r NN NR NN; r", "default r"], "t:1: the rule for 'NP' names 'NN' twice"),
        (["NP r", "default r", "NP l"], "t:3: 'NP' already has a rule, on line 1"),
        (["NP r"], "t: no rule for labels that are not listed"),
        ([], "t: no rule for labels that are not listed"),
    ],
)
def test_a_mistake_in_a_table_is_told_with_its_line(lines, said):
    with pytest.raises(ConfigError) as caught:
        HeadRules.parse(lines, path="t")
    assert said in caught.value.message


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown head rules 'collins' \(known: zhang-clark-2008\)"):
        HeadRules.load("collins")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.txt: the head rules cannot be read"):
        HeadRules.load(tmp_path / "gone.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"bad\.txt: the head rules cannot be read"):
        HeadRules.load(str(tmp_path / "bad.txt"))
