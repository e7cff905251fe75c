"""A well-behaved guest."""

import os
import threading

from memgene.sandbox.guest import HostError


def prepare():
    """Nothing to import."""


def begin(first, host):
    def add(params):
        return sum(params["numbers"])

    def ask(params):
        return host.call("ask", params)

    def ask_and_forgive(params):
        try:
            return host.call("ask", params)
        except HostError as problem:
            return {"refused": str(problem)}

    def ask_often(params):
        return [host.call("ask", {"n": n}) for n in range(params["times"])]

    def fail(params):
        return helper(params["text"])

    def ask_later(params):
        """Ask again and again from a thread, until it is told that nobody waits."""
        threading.Thread(target=keep_asking, daemon=True).start()

    def keep_asking():
        try:
            while True:
                host.call("ask", {})
        except HostError as problem:
            said.append(str(problem))

    said = []
    methods = {
        "add": add,
        "ask": ask,
        "ask_and_forgive": ask_and_forgive,
        "ask_often": ask_often,
        "ask_later": ask_later,
        "what_came": lambda params: said,
        "echo": lambda params: params,
        "fail": fail,
        "pids": lambda params: [os.getpid(), os.getppid()],
        "send": lambda params: host.call("ask", {"value": "x" * params["size"]}),
        "hash": lambda params: hash("a text"),
    }
    return {"got": first}, methods


def helper(text):
    raise ValueError(text)
