"""Solvers: one pure step over shards of annotators, mapped by an executor and reduced."""
