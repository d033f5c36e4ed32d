"""spark-submit jobs/chunks.py --conf CONF: the chunks stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("chunks")()
