"""What ``--help`` says after the options."""

PROGRAM = """
\b
Examples:
  tamis demo
  tamis answer table.csv --target species --report report.html
  tamis rank table.csv --target species
  tamis select table.csv --target species --out reduced.parquet
  tamis compare table.csv --target species

Tables: CSV, TSV (also .gz), Parquet, Feather, NPZ. Results go to stdout, all else to stderr.
Exit code 0: done; 1: it failed; 2: the command was not understood.
"""

RANK = """
\b
Examples:
  tamis rank table.csv --target species
  tamis rank table.parquet --target price --select 20 --out ranking.csv
  tamis rank table.csv --target y --exclude id,date --param n_bins=32 --json
  tamis rank table.csv --target y --select fdr:0.1
  tamis rank 'parts/*.parquet' --target price --workers 4
  tamis rank parts --target price --cluster tcp://scheduler:8786

Names are separated by commas, and options with names may be repeated; a name that holds a comma
is given alone. On a terminal the best columns are shown as a table; in a pipe all of them come as
CSV (rank, feature, score, selected; after a test also p_value, q_value or e_value).

A folder, a pattern (in quotes) and, with --cluster or --workers, any table is read block by block
and never as a whole; its columns are judged and encoded as those of a single file. The workers
read DATA themselves, so they must see it under the same path.
"""

SELECT = """
\b
Examples:
  tamis select table.csv --target species --out reduced.parquet
  tamis select table.parquet --target price --select 20 --keep region --out reduced.parquet
  tamis select table.csv --target species --out reduced.csv --write-manifest choice.json
  tamis select other.csv --manifest choice.json --out other-reduced.csv

The selected columns and the target are written in their original order; rows, types and, from
text to text, every cell stay as they are. Columns named in --keep are written whatever they hold.

A manifest is a JSON file that says what was selected and how. With --manifest nothing is ranked:
the columns it names are written, in its order, and those of --keep and --target after them.
"""
