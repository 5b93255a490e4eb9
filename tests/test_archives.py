"""Files of arrays, read by many threads at once."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from prefpath.archives import read_archive


@pytest.fixture
def restless_threads():
    """Threads change in the midst of `ast`: Dask, too, is called when garbage is collected."""

    def let_others_run(*_):
        time.sleep(1e-4)

    usual = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(7)
    yield
    gc.set_threshold(*usual)
    gc.callbacks.remove(let_others_run)


@pytest.mark.usefixtures("restless_threads")
def test_threads_read_side_by_side(tmp_path):
    file = tmp_path / "many.npz"
    np.savez(file, **{f"array{k}": np.full(3, k) for k in range(40)})
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: read_archive(file), range(40)):
            assert [found[f"array{k}"][0] for k in range(40)] == list(range(40))


def test_objects_are_not_unpickled(tmp_path):
    file = tmp_path / "objects.npz"
    np.savez(file, a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        read_archive(file)
