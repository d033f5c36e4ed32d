"""spark-submit jobs/recognised.py --conf CONF: the recognised stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("recognised")()
