import gzip

import numpy as np
import pytest

from tamis.data import scan
from tamis.data.formats import text as _csv
from tamis.exceptions import ColumnTypeError, InputError


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def cells(table):
    return table.to_numpy()[0]


def test_missing_words(tmp_path):
    write(tmp_path / "t.csv", "a,b\n1,NA\n?,2\n,nan\nnull,3\n")
    expected = [[1, np.nan], [np.nan, 2], [np.nan, np.nan], [np.nan, 3]]
    assert np.array_equal(cells(scan(tmp_path)), expected, equal_nan=True)


def test_missing_target(tmp_path):
    write(tmp_path / "t.csv", "a,y\n1,u\n2,NA\n")
    assert scan(tmp_path, target="y").to_numpy()[1].tolist() == ["u", None]
    write(tmp_path / "t.csv", "a,y\n1,5\n2,NA\n")
    target = scan(tmp_path, target="y").to_numpy()[1]
    assert np.array_equal(target, [5, np.nan], equal_nan=True)


def test_separators_and_decimal_commas(tmp_path):
    write(tmp_path / "t.csv", "a;b\n1,5;2\n2,5;3\n")
    assert cells(scan(tmp_path)).tolist() == [[1.5, 2], [2.5, 3]]


def test_quotes_and_line_ends(tmp_path):
    write(tmp_path / "t.csv", '\ufeff"a b",y\r\n1,"two\nlines"\r\n2,"x, y"\r\n\r\n')
    table = scan(tmp_path, target="y")
    assert table.names == ("a b",)
    assert table.to_numpy()[1].tolist() == ["two\nlines", "x, y"]


def test_flags_are_numbers(tmp_path):
    write(tmp_path / "t.csv", "a,b\ntrue,1\nfalse,2\nNA,3\n")
    assert np.array_equal(cells(scan(tmp_path)), [[1, 1], [0, 2], [np.nan, 3]], equal_nan=True)


class TestTypeOfTarget:
    """The type must be the same in all blocks, and numbers only if all rows hold numbers."""

    @pytest.mark.parametrize(
        ("last", "expected"),
        [("7", np.int64), ("7.5", np.float64), ("seven", object), ("NA", np.int64)],
    )
    def test_the_last_row_decides(self, tmp_path, monkeypatch, last, expected):
        monkeypatch.setattr(_csv, "LARGEST_BYTES", 1000)
        monkeypatch.setattr(_csv, "LEAST_BYTES", 1000)
        rows = [f"{i},{i % 5}" for i in range(2000)]
        write(tmp_path / "t.csv", "\n".join(["a,y", *rows, f"1,{last}"]))
        table = scan(tmp_path, target="y")
        blocks = list(table.blocks(0))
        assert len(blocks) > 5
        types = {block.target.dtype for block in blocks if block is not blocks[-1]}
        assert types == {np.dtype(expected)}
        assert sum(block.n_rows for block in blocks) == 2001
        if last == "seven":
            assert blocks[0].target[1] == "1"
            assert blocks[-1].target[-1] == "seven"

    def test_over_files(self, tmp_path):
        write(tmp_path / "1.csv", "a,y\n1,1\n")
        write(tmp_path / "2.csv", "a,y\n1,2.5\n")
        table = scan(tmp_path, target="y")
        assert [next(table.blocks(i)).target.dtype for i in (0, 1)] == [np.float64] * 2

    def test_creating_reads_no_rows(self, tmp_path, monkeypatch):
        write(tmp_path / "t.csv", "a,y\n1.5,1\n")

        def fail(*_):
            raise AssertionError("rows were read")

        monkeypatch.setattr(_csv.CsvTable, "_batches", fail)
        scan(tmp_path, target="y").select(["a"])


class TestNotANumber:
    def test_in_the_first_rows(self, tmp_path):
        write(tmp_path / "t.csv", "a,b\n1,x\n")
        assert scan(tmp_path).roles[1].kind == "category"

    def test_further_down(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_csv, "LARGEST_BYTES", 1000)
        monkeypatch.setattr(_csv, "LEAST_BYTES", 1000)
        monkeypatch.setattr(_csv, "ROWS_TO_GUESS_FROM", 1)
        rows = [f"{i},{i},{i}" for i in range(2000)]
        rows[1500] = "1,2,o'clock"
        write(tmp_path / "t.csv", "\n".join(["a,b,c", *rows]))
        table = scan(tmp_path, columns=["c", "a"])
        message = r"t.csv: expected numbers in column 'c', got \"o'clock\" in row 1,501 below"
        with pytest.raises(ColumnTypeError, match=message):
            list(table.blocks(0))
        assert len(table.select(["a"]).columns_block(0, 1)) == 2000


class TestLongRows:
    def test_a_row_longer_than_a_block(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_csv, "LARGEST_BYTES", 1000)
        monkeypatch.setattr(_csv, "LEAST_BYTES", 1000)
        rows = [f"{i},u" for i in range(3000)]
        rows[2000] = f"2000,{'v' * 20_000}"
        write(tmp_path / "t.csv", "\n".join(["a,y", *rows]))
        X, y, _ = scan(tmp_path, columns=["a"], target="y").to_numpy()
        assert np.array_equal(X[:, 0], np.arange(3000))
        assert len(y[2000]) == 20_000
        assert set(np.delete(y, 2000)) == {"u"}

    @pytest.mark.slow
    def test_many_columns(self, tmp_path):
        names = ",".join(f"column{j}" for j in range(20_000))
        row = ",".join(map(str, range(20_000)))
        write(tmp_path / "t.csv", f"{names}\n{row}\n{row}\n")
        table = scan(tmp_path, memory_limit=1)
        assert table.shape == (None, 20_000)
        assert np.array_equal(cells(table), [np.arange(20_000)] * 2)


class TestErrors:
    def test_ragged(self, tmp_path):
        write(tmp_path / "t.csv", "a,b\n1,2\n3\n")
        with pytest.raises(InputError, match=r"t.csv: expected 2 fields .* got 1 on line 3"):
            scan(tmp_path).to_numpy()

    def test_not_utf8(self, tmp_path):
        write(tmp_path / "t.csv", b"a,y\n" + b"1,u\n" * 60 + b"2,\xe9t\xe9\n")
        with pytest.raises(InputError, match=r"t.csv: expected UTF-8 text, got byte 0xe9"):
            scan(tmp_path, target="y").to_numpy()

    @pytest.mark.parametrize("columns", [["a"], ["a", "b"]])
    def test_open_quote(self, tmp_path, columns):
        write(tmp_path / "t.csv", 'a,b,y\n1,2,u\n1,2,"v\n3,4,w\n')
        with pytest.raises(InputError, match=r"every quote to be closed"):
            scan(tmp_path, target="y").to_numpy()
        with pytest.raises(InputError, match=r"every quote to be closed"):
            scan(tmp_path, columns=columns).to_numpy()

    def test_two_of_one_name(self, tmp_path):
        write(tmp_path / "t.csv", "a,a\n1,2\n")
        with pytest.raises(InputError, match=r"every column name once"):
            scan(tmp_path)

    def test_damaged_gzip(self, tmp_path):
        rng = np.random.default_rng(0)
        text = "a\n" + "\n".join(str(v) for v in rng.normal(size=20_000))
        raw = bytearray(gzip.compress(text.encode()))
        raw[len(raw) // 2] ^= 0xFF
        write(tmp_path / "t.csv.gz", bytes(raw))
        with pytest.raises(InputError, match=r"t.csv.gz: expected"):
            scan(tmp_path).to_numpy()

    @pytest.mark.parametrize("text", ["a,b", "a,b\n", "a,b\n\n"])
    def test_names_only(self, tmp_path, text):
        write(tmp_path / "1.csv", text)
        write(tmp_path / "2.csv", "a,b\n1,2\n")
        assert cells(scan(tmp_path)).tolist() == [[1, 2]]
        assert cells(scan(tmp_path / "1.csv")).shape == (0, 2)

    def test_empty_file(self, tmp_path):
        write(tmp_path / "t.csv", "")
        with pytest.raises(InputError, match=r"t.csv: expected a table, got an empty file"):
            scan(tmp_path)


@pytest.mark.parametrize("content", ['",b\n1,2\n3,4\n', '"', '"a,b'])
def test_a_quote_in_the_names_that_is_never_closed(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match=r"t.csv: expected .* look for an open quote"):
        scan(tmp_path / "t.csv")
