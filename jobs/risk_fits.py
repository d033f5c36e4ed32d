"""spark-submit jobs/risk_fits.py --conf CONF: the risk_fits stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("risk_fits")()
