"""Self-study on one's own machine: lessons in JupyterLab, and hidden tests after each save.

Theory of operation. The learner and the code in the learner's folder are trusted, as in
`autograder check`. Other sites in the browser and other users of the machine are not. The pages and
JupyterLab listen on 127.0.0.1 and need a random key, which the printed address contains
(`local_site`). The solutions are in the clone, so the pages hide them only until the learner passes
or gives up.

`live_grading` watches the learner's folder and grades in a process of `serve`; `learner_record`
stores the results. Start reading at `local_site`.
"""
