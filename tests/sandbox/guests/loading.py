"""A guest that fails, or not, while it begins."""

import os
import time


def prepare():
    """Nothing to import."""


def begin(first, host):
    actions = {"loop": loop, "raise": fail, "exit": leave, "hard exit": os._exit, "ask": ask}
    return actions[first["do"]](host) if first["do"] != "hard exit" else os._exit(9)


def loop(host):
    while True:
        pass


def fail(host):
    raise ValueError("cannot begin")


def leave(host):
    raise SystemExit("enough")


def ask(host):
    return host.call("name", {}), {"wait": lambda params: time.sleep(3600)}
