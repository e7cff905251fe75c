"""The bundled demo task."""

from memgene.tasks.demo.task import demo_task

__all__ = ["demo_task"]
