"""A guest whose preparation leaves a thread running."""

import threading


def prepare():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
