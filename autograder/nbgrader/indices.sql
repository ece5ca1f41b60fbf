CREATE INDEX IF NOT EXISTS autograder_grade_notebook_id ON grade (notebook_id);
CREATE INDEX IF NOT EXISTS autograder_comment_notebook_id ON comment (notebook_id);
CREATE INDEX IF NOT EXISTS autograder_submitted_notebook_assignment_id ON submitted_notebook (assignment_id);
CREATE INDEX IF NOT EXISTS autograder_submitted_assignment_student_id ON submitted_assignment (student_id);
CREATE INDEX IF NOT EXISTS autograder_base_cell_notebook_id ON base_cell (notebook_id);
