"""spark-submit jobs/measured_risk.py --conf CONF: the measured_risk stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("measured_risk")()
