"""spark-submit jobs/swaps.py --conf CONF: the swaps stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("swaps")()
