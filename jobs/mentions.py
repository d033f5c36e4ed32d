"""spark-submit jobs/mentions.py --conf CONF: the mentions stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("mentions")()
