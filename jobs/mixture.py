"""spark-submit jobs/mixture.py --conf CONF: the mixture stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("mixture")()
