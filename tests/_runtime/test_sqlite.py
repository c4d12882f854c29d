"""Files of SQLite: ours are opened, those of others and crafted ones are refused."""

import sqlite3

import pytest

from tamis._runtime.sqlite import SqliteFile, _remedy, key_conditions
from tamis.exceptions import InputError


class Notes(SqliteFile):
    """Texts by key."""

    application_id = 0x6E6F7465
    schema_version = 3
    schema = "CREATE TABLE IF NOT EXISTS notes (\n    key TEXT PRIMARY KEY NOT NULL, note TEXT\n)"

    def add(self, key, note):
        with self._refusals("write"):
            self._connection.execute("INSERT INTO notes VALUES (?, ?)", (key, note))

    def all(self):
        with self._refusals("read"):
            return self._connection.execute("SELECT note FROM notes ORDER BY key").fetchall()


def craft(path, *statements, application=Notes.application_id, version=3):
    """A file with a header of ours and tables of somebody else."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return path


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "notes"
    with Notes(path) as notes:
        notes.add("b", "two")
        notes.add("a", "one")
        assert repr(notes) == f"Notes({str(path)!r})"
    for read_only in (False, True):
        with Notes(path, read_only=read_only) as notes:
            assert notes.all() == [("one",), ("two",)]


def test_in_memory():
    with Notes() as notes:
        notes.add("a", "one")
        with pytest.raises(InputError, match=r"write 'a store in memory', got: UNIQUE .* is lost"):
            notes.add("a", "again")
        assert notes.all() == [("one",)]


def test_nothing_is_written_to_a_file_that_is_read_only(tmp_path):
    Notes(tmp_path / "notes").close()
    with (
        Notes(tmp_path / "notes", read_only=True) as notes,
        pytest.raises(InputError, match=r"readonly database.* Give a file in a folder that you"),
    ):
        notes.add("a", "one")


CRAFTED = {
    "an endless view": (
        "CREATE VIEW notes AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT n AS key, n AS note FROM r",
    ),
    "a computed gigabyte": (
        "CREATE TABLE notes (key TEXT PRIMARY KEY NOT NULL, note BLOB AS (zeroblob(900000000)))",
        "INSERT INTO notes (key) VALUES ('a')",
    ),
    "a trigger": (
        Notes.schema,
        "CREATE TRIGGER wipe AFTER INSERT ON notes BEGIN DELETE FROM notes; END",
    ),
    "another table": (Notes.schema, "CREATE TABLE others (key TEXT)"),
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("statements", CRAFTED.values(), ids=CRAFTED)
def test_crafted_tables_are_refused_before_they_are_read(statements, read_only, tmp_path):
    path = craft(tmp_path / "notes", *statements)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"Notes: expected a store .* a SQLite file with other"):
        Notes(path, read_only=read_only)
    assert path.read_bytes() == before


def test_files_of_other_programs_are_refused(tmp_path):
    path = craft(tmp_path / "other", "CREATE TABLE others (key TEXT)", application=7)
    with pytest.raises(InputError, match="other tables"):
        Notes(path)
    with pytest.raises(InputError, match="other tables"):
        Notes(craft(tmp_path / "empty", application=0, version=0), read_only=True)


@pytest.mark.parametrize(("version", "age"), [(2, "an older one"), (4, "a newer tamis. Update")])
def test_other_versions_are_refused(version, age, tmp_path):
    path = craft(tmp_path / "notes", "CREATE TABLE notes (key TEXT)", version=version)
    with pytest.raises(InputError, match=f"version 3, got version {version} in .* by {age}"):
        Notes(path)


@pytest.mark.parametrize(
    ("application", "version"), [(0, 3), (Notes.application_id, 3)], ids=["version", "both"]
)
def test_a_file_that_another_process_is_making(application, version, tmp_path):
    """The version comes first, then the number of the program, then the table."""
    path = craft(tmp_path / "notes", application=application, version=version)
    with Notes(path) as notes:
        notes.add("a", "one")
        assert notes.all() == [("one",)]


def test_no_file_of_sqlite(tmp_path):
    path = tmp_path / "notes"
    path.write_bytes(b"some text that is long enough to be no header of SQLite" * 20)
    with pytest.raises(InputError, match="It is no SQLite file, or a damaged one"):
        Notes(path)
    with pytest.raises(InputError, match="in an existing folder you may write to"):
        Notes(tmp_path / "missing" / "notes")


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("database or disk is full", "Free some space and run"),
        ("disk I/O error", "Free some space and run"),
        ("database is locked", "Another process keeps it locked"),
        ("database disk image is malformed", "It is no SQLite file, or a damaged one"),
        ("no such table", "Check the file"),
    ],
)
def test_remedies(reason, remedy):
    assert _remedy(reason, "read").startswith(remedy)
    assert _remedy(reason, "write").startswith(f"Nothing that was stored is lost. {remedy}")


def test_conditions_come_in_parts():
    assert list(key_conditions(None)) == [("", [])]
    assert list(key_conditions(["b", "a", "b"])) == [("WHERE key IN (?, ?)", ["a", "b"])]
    parts = list(key_conditions(f"{i:04d}" for i in range(1001)))
    assert [len(keys) for _, keys in parts] == [500, 500, 1]
    assert [key for _, keys in parts for key in keys] == [f"{i:04d}" for i in range(1001)]
