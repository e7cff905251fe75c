"""Words of the query that few of the hits have count more."""

import math

KIND = "rescorer"
ABOUT = "prefers hits with the words of the query that few other hits have"
TREATS = ["ranked_low"]
LETTERS = 5


def stems(text):
    words = "".join(c.lower() if c.isalnum() else " " for c in text).split()
    return {word[:LETTERS] for word in words if len(word) > 3}


def scores(query, hits):
    wanted = stems(query)
    held = [stems(hit["text"]) & wanted for hit in hits]
    count = {word: sum(word in some for some in held) for word in wanted}
    weight = {word: math.log((1 + len(hits)) / (1 + n)) for word, n in count.items() if n}
    most = sum(weight.values()) or 1.0
    return [sum(weight[word] for word in some) / most for some in held]
