"""spark-submit jobs/run_pipeline.py --conf CONF: all stages, then publish."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("pipeline")()
