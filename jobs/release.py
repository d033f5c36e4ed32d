"""spark-submit jobs/release.py --conf CONF: the release stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("release")()
