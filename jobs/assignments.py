"""spark-submit jobs/assignments.py --conf CONF: the assignments stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("assignments")()
