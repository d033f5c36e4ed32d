"""The first hour: a look at somebody's files, a configuration for them, and what comes along."""
