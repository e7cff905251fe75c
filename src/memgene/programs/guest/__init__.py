"""What runs inside a worker: the toolkit, and how a program is loaded and served."""
