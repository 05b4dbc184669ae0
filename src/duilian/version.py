"""The version: that of the git tag from which the installed package was built."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("duilian")
except PackageNotFoundError:  # run from a source tree without being installed
    __version__ = "0.0.0"
