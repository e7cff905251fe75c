"""Memory programs (M* §2): what a program is, its gates, patches, toolkit and seeds."""
