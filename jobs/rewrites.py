"""spark-submit jobs/rewrites.py --conf CONF: the rewrites stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("rewrites")()
