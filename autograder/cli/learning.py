"""`learn`: study the course alone, on one's own machine."""

from pathlib import Path
from typing import Annotated

from typer import Option

from ..model.course import load
from .app import flag

PORT = 8765


def learn(
    folder: Annotated[
        Path | None,
        Option(help="The folder for your files and progress; default: `learn` in this project."),
    ] = None,
    port: Annotated[
        int, Option(min=0, max=65534, help="The port of the pages; 0: any free port.")
    ] = PORT,
    sandbox: Annotated[
        str, Option(help="auto, bubblewrap, landlock or none (only for code that you trust)")
    ] = "auto",
    no_browser: Annotated[
        bool, flag("no-browser", "Print the address without opening it.")
    ] = False,
    no_jupyter: Annotated[
        bool, flag("no-jupyter", "Do not start JupyterLab: you open the notebooks elsewhere.")
    ] = False,
) -> None:
    """Study the course alone in your browser, until Ctrl-C is pressed.

    The pages show your weeks, start JupyterLab, and grade each save with the hidden tests. Nothing
    leaves this computer. The next start continues where you stopped.

    Example: autograder learn
    Example: autograder learn --folder ~/attention --port 0
    """
    course = load()
    from ..learn.local_site import LearnOptions, run

    options = LearnOptions(
        folder=folder or course.root / "learn",
        port=port,
        sandbox=sandbox,
        jupyter=not no_jupyter,
        browser=not no_browser,
    )
    run(course, options)
