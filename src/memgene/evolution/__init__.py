"""Evolution of a memory for a task: run folder, journal and resume, diagnosis, guard, search."""
