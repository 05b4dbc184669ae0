"""What turns a model and examples into weights."""

from duilian.learning.config import LearnConfig
from duilian.learning.trainer import IterationReport, Trainer

__all__ = ["IterationReport", "LearnConfig", "Trainer"]
