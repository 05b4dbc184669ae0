"""Beyond one process: Arrow in, Arrow out, for Spark, Ray and other engines; and folders of files."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.scale.arrow_analyzer import ArrowAnalyzer
    from duilian.scale.folder_run import FolderRun

__all__ = ["ArrowAnalyzer", "FolderRun"]

__getattr__ = lazily(
    __name__,
    {"duilian.scale.arrow_analyzer": "ArrowAnalyzer", "duilian.scale.folder_run": "FolderRun"},
)
