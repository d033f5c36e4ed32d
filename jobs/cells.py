"""spark-submit jobs/cells.py --conf CONF: the cells stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("cells")()
