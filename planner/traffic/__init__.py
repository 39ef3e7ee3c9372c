"""Requests over time: who sends them, the engines that serve them, what becomes of each. Pure Python, no clock.

`population` says who sends requests, `fleet` shares them out over engines (`router`, `autoscaler`), `engine` serves
them step by step, `outcome` reads percentiles off what was served, `series` what happened over time.
"""
