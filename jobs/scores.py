"""spark-submit jobs/scores.py --conf CONF: the scores stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("scores")()
