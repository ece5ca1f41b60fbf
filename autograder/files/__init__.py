"""What this machine keeps: files written in one step, folders swept, the course's secret."""
