"""Running a comparison: plan -> units -> workers -> store."""
