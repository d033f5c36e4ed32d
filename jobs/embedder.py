"""spark-submit jobs/embedder.py --conf CONF: the embedder stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("embedder")()
