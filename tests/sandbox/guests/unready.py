"""A guest that cannot be prepared."""


def prepare():
    raise RuntimeError("the well is dry")
