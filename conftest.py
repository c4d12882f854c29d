"""Settings and rules of all tests, those of the doctests in `src` among them."""

import inspect
import os
import signal
from collections import defaultdict
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # drawn without a screen

# Files that compile the kernels of another folder, which takes ten seconds and more.
KERNELS_OF = {
    "test_energy": "weighting",
    "test_top_weights": "weighting",
    "test_weights_path": "weighting",
    "linear_svm": "wrappers",
}


def pytest_configure(config):
    """Let tests raise Ctrl-C: in the background of a shell (`nohup ... &`) it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One worker per core for the whole suite, none when files or folders are named."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    config.option.dist = "loadgroup"
    return os.cpu_count()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Choose what is slow, and what runs in the same worker."""
    families = defaultdict(list)
    has_callbacks = find_spec("sklearn.callback") is not None
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
        if not has_callbacks and _needs_callbacks(item):
            item.add_marker(pytest.mark.skip(reason="callbacks came with scikit-learn 1.9"))
        if marker := item.get_closest_marker("sampled"):
            families[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    for (_, n_kept), cases in families.items():
        kept = {round(i * (len(cases) - 1) / max(n_kept - 1, 1)) for i in range(n_kept)}
        for position, case in enumerate(cases):
            if position not in kept:
                case.add_marker(pytest.mark.slow)


def _group(item):
    """Name of what shares compiled kernels: a folder, and the selectors defined in it."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if item.path.name == "test_common.py" and params.keys() & {"selector", "estimator"}:
        selector = params.get("selector") or type(params["estimator"])
        return selector.__module__.split(".")[1]
    parts = item.path.relative_to(item.config.rootpath).with_suffix("").parts
    folder = parts[2] if parts[0] == "src" else parts[1]
    return KERNELS_OF.get(parts[-1]) or KERNELS_OF.get(folder, folder)


def _needs_callbacks(item):
    function = getattr(item, "function", None)
    return function is not None and "set_callbacks" in inspect.getsource(function)
