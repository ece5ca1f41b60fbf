"""`learn`: study the course alone, on one's own machine."""

from pathlib import Path
from typing import Annotated

from typer import Option

from ..model.course import load
from .app import flag


def learn(
    folder: Annotated[
        Path | None, Option(help="The folder for your files; default: `learn` in this project.")
    ] = None,
    port: Annotated[int, Option(min=0, max=65534, help="0: any free port.")] = 8765,
    sandbox: Annotated[
        str, Option(help="auto, bubblewrap, landlock or none (only for code that you trust)")
    ] = "auto",
    no_browser: Annotated[bool, flag("no-browser", "Do not open the printed address.")] = False,
    no_jupyter: Annotated[bool, flag("no-jupyter", "Do not start JupyterLab.")] = False,
) -> None:
    """Study the course alone in your browser, until Ctrl-C is pressed.

    The pages show your weeks, open the lessons in JupyterLab, and grade each save with the hidden
    tests. Nothing leaves this computer. The next start continues where you stopped.

    Example: autograder learn
    Example: autograder learn --folder ~/course --port 0
    """
    course = load()
    from ..learn.learner_record import LearnerFolder
    from ..learn.local_site import run

    learner = LearnerFolder(course, (folder or course.root / "learn").expanduser())
    run(learner, port, sandbox, jupyter=not no_jupyter, browser=not no_browser)
