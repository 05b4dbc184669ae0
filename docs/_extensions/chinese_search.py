"""Offline search in English and Chinese: English words are stemmed, Chinese is cut into pairs of characters.

A query is cut in the same way by the reader's browser, so that no dictionary is needed on either side.
"""

import itertools
import re

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

RUN = re.compile(r"[㐀-鿿]+|[^\W㐀-鿿]+")


class SearchBoth(SearchEnglish):
    lang = "en-zh"
    language_name = "English"  # of the stemmer
    js_splitter_code = """
function splitQuery(query) {
  const runs = query.match(/[\\u3400-\\u9fff]+|(?:(?![\\u3400-\\u9fff])[\\p{Letter}\\p{Number}_])+/gu) || [];
  return runs.flatMap((run) =>
    run.length < 2 || !/^[\\u3400-\\u9fff]/.test(run) ? [run] : [...run].slice(1).map((c, k) => run[k] + c));
}
"""

    def split(self, text: str) -> list[str]:
        """Words, and of Chinese also all characters and pairs of them."""
        words: list[str] = []
        for run in RUN.findall(text):
            is_chinese = "㐀" <= run[0] <= "鿿"
            words += [*run, *map("".join, itertools.pairwise(run))] if is_chinese else [run]
        return words


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_search_language(SearchBoth)
    return {"parallel_read_safe": True}
