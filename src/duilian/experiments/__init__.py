"""Studies: experiments, such as those of the papers, as data. Cells run once; results become tables."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.experiments.study import Study, studies
    from duilian.experiments.study_run import experiment

__all__ = ["Study", "experiment", "studies"]

__getattr__ = lazily(
    __name__,
    {
        "duilian.experiments.study_run": "experiment",
        "duilian.experiments.study": "Study studies",
    },
)
