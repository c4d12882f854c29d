import errno
import os
import stat

import pytest

from tamis.data import atomic_path, check_writable
from tamis.exceptions import InputError


def names(folder):
    return sorted(item.name for item in folder.iterdir())


def write(path, text, force=False, then=None):
    with atomic_path(path, force) as temporary:
        temporary.write_text(text)
        if then is not None:
            then()


def stop(error):
    raise error


def test_file_appears_at_the_end_only(tmp_path):
    path = tmp_path / "out.json"
    with atomic_path(path) as temporary:
        temporary.write_text("[1]")
        assert not path.exists()
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".json"
    assert path.read_text() == "[1]"
    assert names(tmp_path) == ["out.json"]


def test_double_extension_is_kept(tmp_path):
    with atomic_path(tmp_path / "out.csv.gz") as temporary:
        assert temporary.name.endswith(".csv.gz")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_failure_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        write(tmp_path / "out.csv", "half", then=lambda: stop(error()))
    assert names(tmp_path) == []


def test_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write(path, "new", force=True, then=lambda: stop(KeyboardInterrupt()))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_full_disk_is_an_input_error(tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(InputError, match="No space left on device; nothing was changed"):
        write(tmp_path / "out.csv", "half", then=lambda: stop(full))
    assert names(tmp_path) == []


def test_failing_rename_leaves_nothing(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        write(tmp_path / "out.csv", "whole")
    assert names(tmp_path) == []


def test_existing_file_needs_force(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(InputError, match="--force"):
        write(path, "new")
    assert path.read_text() == "old"
    write(path, "new", force=True)
    assert path.read_text() == "new"


def test_file_created_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(InputError, match="one that exists"):
        write(path, "mine", then=lambda: path.write_text("theirs"))
    assert path.read_text() == "theirs"
    assert names(tmp_path) == ["out.csv"]


def test_permissions_follow_the_umask(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    write(tmp_path / "out.csv", "")
    expected = stat.S_IMODE(plain.stat().st_mode)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == expected


def test_symbolic_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    write(link, "new", force=True)
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_check_leaves_nothing(tmp_path):
    check_writable(tmp_path / "out.csv")
    assert names(tmp_path) == []


def test_missing_folder(tmp_path):
    with pytest.raises(InputError, match=r"'.*nowhere', which is missing; create it"):
        check_writable(tmp_path / "nowhere" / "out.csv")


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="to be a folder, got a file"):
        check_writable(tmp_path / "file" / "out.csv")


def test_output_that_is_a_folder(tmp_path):
    with pytest.raises(InputError, match="got a folder; add a file name"):
        check_writable(tmp_path, force=True)


def test_device_is_refused():
    with pytest.raises(InputError, match="got a device or pipe"):
        check_writable(os.devnull, force=True)


def test_existing_file_is_refused_early(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(InputError, match="--force"):
        check_writable(path)
    check_writable(path, force=True)
    assert path.read_text() == "old"


def test_unwritable_folder(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=r"out\.csv: .*Permission denied.*may write to"):
        check_writable(tmp_path / "out.csv")


def test_name_too_long(tmp_path):
    with pytest.raises(InputError, match="name too long"):
        check_writable(tmp_path / ("x" * 300 + ".csv"))


def test_temporaries_of_killed_runs_are_swept(tmp_path):
    old, new, foreign = (tmp_path / f".tamis-{name}" for name in ("0" * 12, "1" * 12, "notes"))
    for path in (old, new, foreign):
        path.touch()
    os.utime(old, (0, 0))
    os.utime(foreign, (0, 0))
    with atomic_path(tmp_path / "x.csv") as temporary:
        temporary.write_text("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, foreign.name, "x.csv"]
