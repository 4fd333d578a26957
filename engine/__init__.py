"""What happens in a turn: facts, rules, tasks, failures, replies."""

from .agents import Agent
from .conversation import Conversation
from .facts import Facts
from .journal import Journal
from .matcher import Matcher
from .tasks import FunctionTask, Task, task
from .turns import Turn

__all__ = ["Agent", "Conversation", "Facts", "FunctionTask", "Journal", "Matcher", "Task", "Turn", "task"]
