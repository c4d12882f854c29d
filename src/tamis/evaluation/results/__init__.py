"""What came out of a comparison: tables, differences, a recommendation and a plain record."""
