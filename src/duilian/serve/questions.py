"""The requests of a service as JSON: fields, their types and ranges, and examples for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from duilian.lexicon.entries import MAX_WEIGHT
from duilian.serve.limits import MAX_WORD

TEXT = "他把手机借给了北京大学的同学。"
ANNOTATED = "他/r  在/p  北京/ns  工作/v  。/w"

Texts = Annotated[str | list[str], Field(description="A text, or a list of texts.")]
ModelName = Annotated[
    str | None, Field(description="One of the models of GET /models; the default is the first.")
]
FormatName = Annotated[
    str | None, Field(description="Its format, if not guessed correctly: slash, conllu, …")
]
StandardName = Annotated[str | None, Field(description="The standard; the default is the model's first.")]


def _whole(number: Any) -> Any:
    """To JSON, 2.0 is a whole number."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


# For the description only: the engine checks words and weights, with clearer messages.
WORD: dict[str, Any] = {"pattern": r"^[^\s\u001c-\u001f\u0085]+$", "maxLength": MAX_WORD}
OwnWord = Annotated[str, Field(json_schema_extra=WORD)]


class Question(BaseModel):
    """What all questions share: unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: ModelName = None


class UserWord(BaseModel):
    """A word of the user's own, with the tags that it may have."""

    model_config = ConfigDict(extra="forbid", strict=True)

    word: Annotated[str, Field(json_schema_extra=WORD)]
    tags: list[str] = []
    weight: Annotated[
        float | None,
        Field(
            description="How strongly to prefer the word; without a weight, the word is forced.",
            json_schema_extra={"exclusiveMinimum": 0, "maximum": MAX_WEIGHT},
        ),
    ] = None


class Analyze(Question):
    """Words, tags and trees of texts."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": TEXT},
                {"text": [TEXT, "下雨了。"], "standards": ["pku"], "trees": False},
                {"text": "云计算中心开放了。", "words": ["云计算中心"], "to": "slash", "standards": ["pku"]},
            ]
        }
    )

    text: Texts
    standards: Annotated[list[str], Field(description="Standards to answer in; all if empty.")] = []
    tags: bool = True
    trees: bool = True
    confidence: Annotated[bool, Field(description="Add the probability of each word with its tag.")] = False
    marginals: Annotated[bool, Field(description="Add the probability of every likely tag.")] = False
    nbest: Annotated[
        int,
        Field(ge=1, description="Also return this many analyses of each text in each standard."),
        BeforeValidator(_whole),
    ] = 1
    words: Annotated[list[OwnWord | UserWord], Field(description="The user's own words.")] = []
    to: Annotated[
        Literal["json", "conllu", "slash", "words"],
        Field(description="The form of the answer; forms other than json are plain text in one standard."),
    ] = "json"


class Segment(Question):
    """Words of texts in one standard."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": TEXT}, {"text": [TEXT], "fast": True}]}
    )

    text: Texts
    standard: StandardName = None
    fast: Annotated[bool, Field(description="Use the model's fast segmenter.")] = False


class Convert(Question):
    """Annotated text from one standard to another."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": ANNOTATED, "from": "pku", "to": "ud"}]},
        validate_by_name=True,
        validate_by_alias=True,
    )

    text: Annotated[str, Field(description="Annotated text, such as 北京/ns, or CoNLL-U.")]
    source: Annotated[str, Field(alias="from", description="The standard of the text.")]
    to: Annotated[str, Field(description="The standard to convert to.")]
    format: FormatName = None
    to_format: Annotated[str | None, Field(description="The format of the answer, if not the text's.")] = None
    unknown_tags: Annotated[
        bool, Field(description="Treat tags that the model has never seen as missing.")
    ] = False


class Evaluate(Question):
    """The model's answers against gold annotation."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"gold": ANNOTATED, "standard": "pku"}]})

    gold: Annotated[str, Field(description="Correctly annotated text.")]
    standard: StandardName = None
    format: FormatName = None


class Error(BaseModel):
    """Why there is no answer: one sentence, and perhaps a hint."""

    error: str
    hint: str | None = None


class Analyses(BaseModel):
    """The analysis of each text, as returned by `Doc.to_dict`."""

    docs: list[dict[str, Any]]
    nbest: Annotated[
        list[dict[str, list[dict[str, Any]]]] | None,
        Field(description="For each text and standard, the best analyses with their probabilities."),
    ] = None


class SegmentedTexts(BaseModel):
    """The words of each text."""

    standard: str
    words: list[list[str]]


class Converted(BaseModel):
    """The converted text, and the words of each sentence before and after."""

    format: str
    text: str
    unknown: Annotated[int, Field(description="How many tags the model has never seen.")]
    sentences: list[dict[str, Any]]


class Health(BaseModel):
    """Whether the service answers."""

    status: Literal["ok", "stopping"]
    version: str
