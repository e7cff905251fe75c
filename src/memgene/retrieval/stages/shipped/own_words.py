"""Who is asked about speaks of it in the first person."""

import re

KIND = "rescorer"
ABOUT = "prefers what the person named in the question says in the first person"
TREATS = ["ranked_low", "names_mislead"]
PRONOUNS = True


def scores(query, hits):
    found = []
    for hit in hits:
        speaker = (hit["speaker"] or "").split()
        own = bool(speaker) and re.search(rf"\b{re.escape(speaker[0])}\b", query)
        first = re.search(r"\b(I|I'm|I've|my|me|we|our)\b", hit["text"])
        found.append(1.0 if own and (first or not PRONOUNS) else 0.0)
    return found
