"""Listening studies: study file, design, trials, answers, ratings, analysis and report."""
