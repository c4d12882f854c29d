"""Write what follows from the classes: public names, README table, table of methods.

Run ``python docs/generate.py`` after adding a selector or changing its ``facts``. With ``--check``
nothing is written, and files that are not current are an error; a test does that.
"""

import importlib
import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAMILIES = ("split", "graph", "weighting", "filters", "wrappers", "consensus")
# Public names that are not selectors of a table, and the modules.
OTHERS = {
    "auto": ("AutoSelector", "answer"),
    "data": ("scan",),
    "evaluation": ("compare",),
    "graph": ("inf_fs_path", "walk_scores"),
    "meta": (
        "AndOrFeatures", "FeatureSource", "MFPFS", "MetaSpace", "Mufasa", "PatchPrototypes",
        "QualityMap",
    ),
    "selectors": ("list_selectors", "make_selector"),
    "weighting": ("VotingSubsetClassifier",),
}  # fmt: skip
MODULES = (
    "auto", "base", "bounds", "certainty", "consensus", "cutoff", "data", "datasets", "evaluation",
    "exceptions", "filters", "graph", "manifest", "meta", "passes", "plots", "report", "selectors",
    "statistics", "weighting", "wrappers",
)  # fmt: skip
TARGETS = {"classification": "class labels", "regression": "regression"}


def find_selectors():
    """Every class with facts of its own, by family."""
    found = {}
    for family in FAMILIES:
        package = importlib.import_module(f"tamis.{family}")
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) and "facts" in vars(thing):
                found[name] = thing
    return found


def home_names(selectors):
    """The part of ``tamis/_names.py`` between the markers."""
    homes, others = find_homes(selectors)
    lines = ["SELECTORS = {"]
    lines += [f'    "{name}": "{homes[name]}",' for name in sorted(homes)]
    lines += ["}", "OTHERS = {"]
    lines += [f'    "{name}": "{others[name]}",' for name in sorted(others)]
    return "\n".join([*lines, "}"])


def find_homes(selectors):
    """Package of every selector, and of every other public name."""
    homes = {name: f"tamis.{family_of(cls)}" for name, cls in selectors.items()}
    return homes, {name: f"tamis.{home}" for home, names in OTHERS.items() for name in names}


def public_names(selectors):
    """The part of ``tamis/__init__.py`` between the markers."""
    homes, others = find_homes(selectors)
    lines = ["__all__ = ["]
    lines += [f'    "{name}",' for name in sorted([*homes, *others, *MODULES], key=natural)]
    lines += ["]", "", "if TYPE_CHECKING:", "    from tamis import ("]
    lines += [f"        {name}," for name in MODULES]
    lines += ["    )"]
    both = {**homes, **others}
    for home in sorted(set(both.values())):
        names = sorted((name for name, at in both.items() if at == home), key=natural)
        line = f"    from {home} import {', '.join(names)}"
        if len(line) > 100:
            line = "\n".join(
                [f"    from {home} import (", *(f"        {n}," for n in names), "    )"]
            )
        lines.append(line)
    return "\n".join(lines)


def natural(name):
    """Sort as ruff does: constants, then classes, then functions."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


def family_of(cls):
    return cls.__module__.split(".")[1]


def readme_table(selectors):
    """Class, target, score and cost of every selector."""
    lines = ["| Class | Target | Score of a feature | Cost |", "|---|---|---|---|"]
    for name, cls in selectors.items():
        facts = cls.facts
        lines.append(f"| `{name}` | {target_of(cls)} | {facts.summary} | {facts.cost} |")
    return "\n".join(lines)


def methods_table(selectors):
    """What every selector considers, promises and costs."""
    from tamis._facts import info_of

    lines = [
        "| Method | Target | Features considered | Redundancy lowers the score | Nonlinear "
        "| Units matter | Weights | Larger than memory | Number of features | Cost |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, cls in selectors.items():
        facts, info = cls.facts, info_of(cls)
        link = page_link(cls.__module__.split(".")[1])
        number = "its own" if info.chooses_number else "by a rule"
        lines.append(
            f"| [`{name}`]({link}) | {target_of(cls)} | {facts.scope} | {facts.redundancy} "
            f"| {facts.nonlinear} | {facts.scaling} | {yes(info.weighted)} "
            f"| {yes(info.out_of_core)} | {number} | {facts.cost} |"
        )
    return "\n".join(lines)


def page_link(page):
    """Families have a page each, named after their folder."""
    return f"families/{page}.md" if page != "consensus" else "evaluation.md"


def target_of(cls):
    if not cls._supervised:
        return "none"
    return ", ".join(TARGETS[task] for task in cls.facts.tasks)


def yes(flag):
    return "yes" if flag else "no"


def replaced(text, begin, end, new):
    """`text` with `new` between two marker lines."""
    head, rest = text.split(begin + "\n", 1)
    tail = rest.split(end, 1)[1]
    return f"{head}{begin}\n{new}\n{end}{tail}"


def main(check):
    selectors = find_selectors()
    mark = ("<!-- generated by docs/generate.py -->\n", "\n<!-- end of generated part -->")
    code = ("# Generated by docs/generate.py.", "# End of the generated part.")
    files = {
        "src/tamis/_names.py": (*code, home_names),
        "src/tamis/__init__.py": (*code, public_names),
        "README.md": (*mark, readme_table),
        "docs/choosing.md": (*mark, methods_table),
    }  # fmt: skip
    stale = []
    for name, (begin, end, make) in files.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = replaced(old, begin, end, make(selectors))
        if new != old:
            stale.append(name)
            if not check:
                path.write_text(new, encoding="utf-8")
    return stale


if __name__ == "__main__":
    stale = main("--check" in sys.argv[1:])
    print("\n".join(stale) or "all current")
    sys.exit(bool(stale) and "--check" in sys.argv[1:])
