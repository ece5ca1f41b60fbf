"""The students' site: each released week as a page, with its lesson as it comes out.

Theory of operation. Anybody may read the site. So a page shows what students get (`week_files`) and
what their lesson puts out when it is run beside the solution; the solution itself never. Nothing of
a week is made before its release date. Every page is held to the leak check twice: the notebook
that was run, and the words on the page without their markup.
"""
