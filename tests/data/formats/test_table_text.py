import gzip

import pyarrow as pa
import pytest

from tamis.data import read_table
from tamis.exceptions import InputError


def test_types_are_found(csv):
    table = csv("i,f,s,b,d,t\n1,1.5,x,true,2020-01-02,2020-01-02T03:04:05\n2,2.5,y,false,,\n")
    kinds = [str(kind) for kind in table.arrow.schema.types]
    assert kinds == ["int64", "double", "string", "bool", "date32[day]", "timestamp[s]"]
    assert table.notes == ()


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "null", "None", "?"])
def test_missing_words(csv, word):
    table = csv(f"n,s\n1,x\n{word},{word}\n")
    assert table.arrow.to_pydict() == {"n": [1, None], "s": ["x", None]}


def test_quoted_line_breaks_and_separators(csv):
    table = csv('a,"b\nc"\n1,"x\ny"\n2,"u,v ""w"""\n')
    assert table.names == ("a", "b\nc")
    assert table.arrow["b\nc"].to_pylist() == ["x\ny", 'u,v "w"']


def test_windows_lines_and_byte_order_mark(csv):
    table = csv(b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n")
    assert table.arrow.to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_old_macintosh_lines(csv):
    assert csv(b"a,b\r1,2\r3,4\r").arrow.to_pydict() == {"a": [1, 3], "b": [2, 4]}


def test_unicode_names(csv):
    assert csv("größe,花\n1,2\n").names == ("größe", "花")


@pytest.mark.parametrize("name", ["t.tsv", "t.txt"])
def test_tabs(csv, name):
    table = csv("a\tb\n1,5\tx\n", name)
    assert table.names == ("a", "b")


@pytest.mark.parametrize(("name", "mark"), [("t.csv.gz", ","), ("t.tsv.gz", "\t")])
def test_gzip(csv, name, mark):
    table = csv(gzip.compress(f"a{mark}b\n1{mark}2\n".encode()), name)
    assert table.arrow.to_pydict() == {"a": [1], "b": [2]}


def test_semicolons_are_noticed(csv):
    table = csv("a;b\n1;2\n")
    assert table.names == ("a", "b")
    assert table.notes == ("t.csv is separated by ';'",)


def test_semicolon_in_quotes_is_no_separator(csv):
    assert csv('"a;b"\n1\n').names == ("a;b",)


def test_wide_semicolon_file(csv):
    header = ";".join(f"column_number_{j}" for j in range(10_000))
    table = csv(header + "\n" + ";".join(["1"] * 10_000) + "\n")
    assert len(table.names) == 10_000


def test_comma_in_tab_file(csv):
    assert csv("a,b\n1,2\n", "t.tsv").notes == ("t.tsv is separated by ','",)


def test_decimal_commas(csv):
    table = csv("a;b\n1,5;x\n-2,25;y\n")
    assert table.arrow["a"].to_pylist() == [1.5, -2.25]
    assert any("decimal commas" in note for note in table.notes)


@pytest.mark.parametrize("cells", [("1,500", "2,250"), ("1,5", "2.5")])
def test_thousands_and_mixed_marks_are_not_decimal_commas(csv, cells):
    table = csv(f"a;b\n{cells[0]};x\n{cells[1]};y\n")
    assert table.arrow["a"].to_pylist() == list(cells)


def test_names_that_are_numbers_get_a_note(csv):
    assert "all column names" in csv("1.5,2\n3,4\n").notes[0]
    assert csv("900,902,octane\n3,4,5\n").notes == ()


def test_row_longer_than_a_block(csv, monkeypatch):
    monkeypatch.setattr("tamis.data.formats.dialect.MIN_BLOCK", 64)
    long = "x" * 100_000
    table = csv("a,b\n" + "1,2\n" * 60 + f"3,{long}\n")
    assert table.n_rows == 61
    assert table.arrow["b"][60].as_py() == long


def test_row_longer_than_any_block(csv_error, monkeypatch):
    monkeypatch.setattr("tamis.data.formats.dialect.MIN_BLOCK", 64)
    monkeypatch.setattr("tamis.data.formats.dialect.MAX_BLOCK", 512)
    message = csv_error("a,b\n" + "1,2\n" * 60 + f"3,{'x' * 10_000}\n")
    assert "look for a quote that is not closed" in message


@pytest.mark.slow
def test_twenty_thousand_columns(csv):
    header = ",".join(f"gene_{j}" for j in range(20_000))
    row = ",".join(["0.123456789"] * 20_000)
    table = csv(f"{header}\n{row}\n{row}\n")
    assert table.arrow.shape == (2, 20_000)


def test_one_row(csv):
    assert csv("a,b\n1,2\n").n_rows == 1


def test_no_line_end_at_the_end(csv):
    assert csv("a,b\n1,2").arrow.to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize("content", ["a,b\n", "a,b"])
def test_header_only(csv_error, content):
    assert "at least one row of data" in csv_error(content)


def test_blank_lines_only(csv_error):
    assert "only blank lines" in csv_error("\n\n\r\n")


def test_too_few_fields(csv_error):
    message = csv_error("a,b,c\n1,2,3\n4,5\n")
    assert message.startswith("t.csv: expected 3 fields on every line")
    assert "got 2 on line 3; add what is missing" in message


def test_too_many_fields(csv_error):
    message = csv_error("a,b\n1,2\n\n4,5,6\n")
    assert "expected 2 fields" in message
    assert "got 3 on line 4; put quotes around a cell that holds ','" in message


def test_line_number_counts_lines_in_quotes(csv_error):
    assert "got 1 on line 4" in csv_error('a,b\n1,"x\ny"\n3\n')


def test_row_labels_without_a_name(csv_error):
    assert "give it a name in line 1" in csv_error("a,b\nr1,1,2\nr2,3,4\n")


def test_ragged_in_gzip_and_tabs(csv_error):
    message = csv_error(gzip.compress(b"a\tb\n1\t2\n3\n"), "t.tsv.gz")
    assert "got 1 on line 3" in message
    assert "a tab" in message


def test_ragged_with_a_huge_cell_still_explains(csv_error):
    message = csv_error("a,b\n" + "x" * 200_000 + ",1\n2\n")
    assert "expected 2 fields" in message
    assert "got 1 in one row" in message


def test_duplicate_names(csv_error):
    message = csv_error("a,b,a,b,c\n1,2,3,4,5\n")
    assert "every column name once, got 'a', 'b' more than once; rename them" in message


def test_open_quote_is_not_swallowed(csv_error):
    message = csv_error('a,b\n1,x\n2,"y\n3,z\n4,z\n')
    assert "every quote to be closed" in message
    assert "'y\\n3,z" in message


def test_closed_quote_at_the_end_is_fine(csv):
    assert csv('a,b\n1,"x\ny"\n').arrow["b"].to_pylist() == ["x\ny"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n1,café\n".encode("latin1"), "byte 0xe9 on line 3; save it as UTF-8"),
        ("café,b\n1,2\n".encode("latin1"), "byte 0xe9 on line 1"),
        (b"a,b\n" + b"1,2\n" * 100 + b"1,\xe9\n", "byte 0xe9 on line 102"),
        ("a,b\n1,2\n".encode("utf-16"), "looks like UTF-16"),
        ("a,b\n1,2\n".encode("utf-16-le"), "byte 0x00 on line 1"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "add .gz to its name"),
        (b"PK\x03\x04\xff\xff\n", "spreadsheet or zip"),
    ],
)
def test_not_utf8(csv_error, content, words):
    message = csv_error(content)
    assert "expected UTF-8 text" in message
    assert words in message


@pytest.mark.parametrize("cut", [2, 9, 30])
def test_truncated_gzip(csv_error, cut):
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-cut]
    assert "expected gzip-compressed text, got a damaged" in csv_error(content, "t.csv.gz")


def test_gzip_in_name_only(csv_error):
    assert "expected gzip-compressed text, got a damaged" in csv_error("a,b\n1,2\n", "t.csv.gz")


@pytest.mark.slow
def test_gzip_damaged_late(tmp_path):
    packed = gzip.compress(b"".join(b"%d,%d\n" % (j, j * j) for j in range(200_000)))
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"t\.csv\.gz: expected"):
        read_table(tmp_path / "t.csv.gz")


def test_type_is_found_from_all_rows(csv, monkeypatch):
    monkeypatch.setattr("tamis.data.formats.dialect.MIN_BLOCK", 256)
    table = csv("a,b\n" + "1,2\n" * 500 + "x,2\n")
    assert pa.types.is_string(table.arrow["a"].type)
