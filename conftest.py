"""Settings and rules of all tests, those of the doctests in `src` among them."""

import inspect
import os
import signal
from collections import defaultdict
from importlib.util import find_spec

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # drawn without a screen

# Words in the names of files and selectors, and the worker that compiles for all of them.
SLOW_TO_COMPILE = {
    **dict.fromkeys(("linear_svm", "wrappers", "SVMRFE", "L0SVM"), "svm"),
    **dict.fromkeys(("weighting", "OFW", "test_energy", "test_top_weights", "weights_path"), "ofw"),
}


def pytest_configure(config):
    """Let tests raise Ctrl-C: in the background of a shell (`nohup ... &`) it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One worker per core for the whole suite, none when files or folders are named."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
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
    """Name of what shares its compiled kernels: a file, or a selector in the common checks.

    The kernels of support vector machines and of OFW take ten seconds each to compile.
    """
    params = item.callspec.params if hasattr(item, "callspec") else {}
    name = str(item.path.relative_to(item.config.rootpath))
    if item.path.name == "test_common.py" and params.keys() & {"selector", "estimator"}:
        name = (params.get("selector") or type(params["estimator"])).__name__
    shared = (group for word, group in SLOW_TO_COMPILE.items() if word in name)
    return next(shared, name)


def _needs_callbacks(item):
    function = getattr(item, "function", None)
    return function is not None and "set_callbacks" in inspect.getsource(function)
