"""Recipes included in the package: the systems of the papers, with the settings given there."""

from __future__ import annotations

from pathlib import Path

from duilian.errors import ConfigError, did_you_mean

PAPERS = "papers"
_FOLDER = Path(__file__).with_name(PAPERS)


def shipped_recipes() -> list[str]:
    """The names, such as `papers/li2017-coupled`."""
    return sorted(f"{PAPERS}/{path.stem}" for path in _FOLDER.glob("*.toml"))


def find_recipe(name: str | Path) -> Path:
    """The file of a recipe: the path given or, if it does not exist, a recipe of that name in the package."""
    path = Path(name)
    if path.exists() or path.parts[:1] != (PAPERS,) or path.suffix:
        return path
    if str(name) not in shipped_recipes():
        names = [Path(each).name for each in shipped_recipes()]  # with the folder, all look alike
        raise ConfigError(f"{PAPERS}/ has no recipe {path.name!r}", did_you_mean(path.name, names))
    return _FOLDER / f"{path.name}.toml"
