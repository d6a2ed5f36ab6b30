"""Forty plain questions. Their answers are counted, not judged."""

import collections
import statistics

from case import ModelCase
from test_prefixes import share_of

QUESTIONS = """\
What is the capital of France?
What is two plus two?
What color is the sky?
Which animal says meow?
How many days does a week have?
What is the opposite of hot?
Which planet do we live on?
What do bees make?
What is frozen water called?
How many legs does a spider have?
Which month comes after May?
What do cows drink?
What is the largest ocean?
Who wrote Hamlet?
Which language do people speak in Spain?
What is the first letter of the alphabet?
What is ten minus three?
Which metal is liquid at room temperature?
What do you use to cut paper?
Which season comes after summer?
How many hours does a day have?
What is the color of grass?
Which bird cannot fly?
What is the capital of Italy?
How many wheels does a bicycle have?
What do plants need to grow?
Which fruit is yellow and long?
What is the opposite of day?
How many minutes does an hour have?
Which animal is the largest?
What is the sun?
What do we breathe?
Which country has the city of Tokyo?
What is half of eight?
What is the color of snow?
Which tool drives nails?
What is a baby dog called?
How many months does a year have?
What do fish live in?
Which star is the closest to us?
""".splitlines()

IN_A_ROW = 10


class Questions(ModelCase):
    def test_forty_questions_all_end(self):
        agent = self.json_agent(tokens=48)
        runs, first = [], []
        for question in QUESTIONS:
            # In short spaces no history is summarized, which would take a minute.
            if len(runs) % IN_A_ROW == 0:
                space = self.deployment.space(self.sara, agent)
                first.append(len(runs))
            runs.append(self.deployment.answered(space, self.sara, question))
        ends = collections.Counter()
        for run in runs:
            self.assert_completed(run, "done", "skipped", "length")
            ends[run["endReason"]] += 1
        posted = [len(self.deployment.messages_of(run)) for run in runs]
        self.assertLessEqual(max(posted), 1)
        self.assertEqual(self.model().refusals(), [])
        share = statistics.median(share_of(run) for at, run in enumerate(runs) if at not in first)
        reasons = ", ".join(f"{count} {reason}" for reason, count in ends.most_common())
        self.figure(f"{sum(posted)} of {len(QUESTIONS)} questions got a message ({reasons})")
        self.figure(f"cached, without tools: median {share:.3f}")
