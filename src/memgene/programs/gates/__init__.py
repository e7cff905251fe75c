"""What a program must pass before it is evaluated (M* §7)."""
