"""One verb per file. A verb reads its options, calls the Python API and prints what it returns."""
