"""Benchmarks of grading: throughput, overhead, scaling, and the quality of diagnoses."""
