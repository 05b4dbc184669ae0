"""What turns a model and examples into weights."""

from duilian.learning.adagrad import AdaGradConfig, adagrad

__all__ = ["AdaGradConfig", "adagrad"]
