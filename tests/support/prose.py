"""Pages that say something: prose that is good enough to be indexed, another for each topic."""

from __future__ import annotations

import random

_PEOPLE = (
    "the baker", "a carpenter", "my neighbour", "the old ferryman", "our teacher", "a gardener",
    "the librarian", "two brothers", "the night nurse", "a young engineer", "the postman",
    "an apprentice",
)  # fmt: skip
_PLACES = (
    "behind the church", "near the harbour", "under the railway bridge", "in the upper village",
    "beside the mill", "across the valley", "on the market square", "at the end of the road",
    "above the quarry", "along the canal", "in a rented barn", "outside the northern gate",
)  # fmt: skip
_WORK = (
    "repairs clocks", "grows pears", "builds small boats", "keeps a record of the weather",
    "teaches children to read maps", "restores painted doors", "collects letters from soldiers",
    "measures how far the river rises", "prints posters by hand", "weaves heavy blankets",
    "tunes pianos", "sorts seeds for the spring",
)  # fmt: skip
_WHEN = (
    "since the flood of that winter", "for almost thirty years", "every second Thursday",
    "whenever the wind turns east", "after the shops have closed", "before anybody else is awake",
    "during the long holidays", "while the lamps are still burning", "from April until October",
    "as long as anyone remembers", "until the first frost", "once the harvest is in",
)  # fmt: skip
_FORMS = (
    "{who} {does} {where}, and has done so {when}.",
    "Visitors who ask about {topic} are often told that {who} {does} {when}.",
    "What happens {where} has little to do with it, although {who} {does} there {when}.",
    "Nobody planned it this way: {who} came for a week and now {does} {where}.",
    "If you arrive {when}, look for the sign {where}, because {who} {does} just beyond it.",
    "There are better reasons to speak of {topic}, yet most people begin with how {who} {does}.",
)
SENTENCES = 18
PER_PARAGRAPH = 3


def prose(topic: str) -> str:
    """Return some paragraphs about a topic, always the same for the same one."""
    rng = random.Random(topic)
    said = []
    for number in range(SENTENCES):
        form = _FORMS[(number + rng.randrange(2)) % len(_FORMS)]
        sentence = form.format(
            who=rng.choice(_PEOPLE),
            does=rng.choice(_WORK),
            where=rng.choice(_PLACES),
            when=rng.choice(_WHEN),
            topic=topic,
        )
        said.append(sentence[0].upper() + sentence[1:])
    parts = range(0, SENTENCES, PER_PARAGRAPH)
    return "</p><p>".join(" ".join(said[at : at + PER_PARAGRAPH]) for at in parts)
