"""spark-submit jobs/candidates.py --conf CONF: the candidates stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("candidates")()
