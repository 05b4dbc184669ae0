"""What turns a model and examples into weights."""

from duilian.learning.config import Algorithm, LearnConfig
from duilian.learning.rules import AdaGrad, Exponentiated, Sgd
from duilian.learning.trainer import IterationReport, Trainer

__all__ = ["AdaGrad", "Algorithm", "Exponentiated", "IterationReport", "LearnConfig", "Sgd", "Trainer"]
