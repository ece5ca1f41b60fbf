"""The folders of the course hold tests of their own, which are not tests of the kit."""

collect_ignore = ["exercises", "autograder", "solutions"]
