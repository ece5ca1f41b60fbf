-- name: students
SELECT id FROM student ORDER BY id

-- name: people
SELECT id, first_name, last_name, email FROM student ORDER BY id

-- name: assignments
SELECT assignment.name, assignment.duedate, base_cell.name, grade_cells.max_score
FROM assignment
LEFT JOIN notebook ON notebook.assignment_id = assignment.id
LEFT JOIN base_cell ON base_cell.notebook_id = notebook.id
LEFT JOIN grade_cells ON grade_cells.id = base_cell.id

-- name: extensions
SELECT assignment.name, submitted.student_id, submitted.id, submitted.extension
FROM submitted_assignment AS submitted
JOIN assignment ON assignment.id = submitted.assignment_id

-- name: grades
SELECT assignment.name, submitted.student_id, base_cell.name, submitted.id, grade.extra_credit,
       grade_cells.max_score, grade.auto_score, grade.manual_score, grade.needs_manual_grade,
       given.manual_comment
FROM grade
JOIN grade_cells ON grade_cells.id = grade.cell_id
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook AS notebook ON notebook.id = grade.notebook_id
JOIN submitted_assignment AS submitted ON submitted.id = notebook.assignment_id
JOIN assignment ON assignment.id = submitted.assignment_id
LEFT JOIN (
    SELECT comment.notebook_id, base_cell.name, comment.manual_comment
    FROM comment JOIN base_cell ON base_cell.id = comment.cell_id
) AS given ON given.notebook_id = notebook.id AND given.name = base_cell.name

-- name: marked
WHERE grade.manual_score IS NOT NULL OR COALESCE(grade.extra_credit, 0) <> 0
   OR COALESCE(given.manual_comment, '') <> ''

-- name: submissions
SELECT assignment.name, submitted.student_id, submitted.timestamp, submitted.extension,
       COUNT(grade.auto_score),
       SUM(CASE WHEN grade.needs_manual_grade THEN 1 ELSE 0 END),
       SUM(COALESCE(grade.manual_score, grade.auto_score, 0)
           + CASE WHEN COALESCE(grade.manual_score, grade.auto_score) IS NULL
             THEN 0 ELSE COALESCE(grade.extra_credit, 0) END),
       MAX(COALESCE(notebook.late_submission_penalty, 0))
FROM submitted_assignment AS submitted
JOIN assignment ON assignment.id = submitted.assignment_id
JOIN submitted_notebook AS notebook ON notebook.assignment_id = submitted.id
JOIN grade ON grade.notebook_id = notebook.id
GROUP BY assignment.name, submitted.student_id, submitted.timestamp, submitted.extension
