"""spark-submit jobs/utility.py --conf CONF: the utility stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("utility")()
