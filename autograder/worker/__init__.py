"""What runs inside the sandbox, beside the student's code.

Theory of operation: this package is the only project code that a submission can see. It imports
the student's module, runs the calls it is asked for and reports what happened. It decides
nothing: no test, no expected value and no score is ever in this process. Whatever it reports may
have been forged by the code it runs, so the trusted side believes it only as far as a student's
own answer is to be believed.

Imported as `worker` inside the sandbox and as `autograder.worker` outside: relative imports only.
"""
