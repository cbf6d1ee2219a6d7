"""A task that the tiny model can do, for `inspect eval`."""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

ANSWERS = {"hi": "Hello!", "emoji": "café 😀 你好", "think": "The answer is 4.", "nothing": "of this"}


@task
def by_heart():
    samples = [Sample(input=asked, target=answer) for asked, answer in ANSWERS.items()]
    return Task(dataset=samples, solver=generate(), scorer=match(location="any"))


@task
def told():
    samples = [Sample(input=f"number {number}", target="x") for number in range(8)]
    return Task(dataset=samples, solver=[system_message("Answer."), generate()], scorer=match())


@tool
def get_weather():
    async def execute(city: str):
        """The weather of a city.

        Args:
            city: Its name.
        """
        return f"It rains in {city}."

    return execute


@task
def weather():
    samples = [Sample(input=asked, target="x") for asked in ("tool", "two")]
    return Task(dataset=samples, solver=[use_tools(get_weather()), generate(tool_calls="single")], scorer=match())
