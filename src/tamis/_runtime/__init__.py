"""What all work needs while it runs: threads, compilation, memory limits, files, checkpoints."""
