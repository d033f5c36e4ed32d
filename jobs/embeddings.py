"""spark-submit jobs/embeddings.py --conf CONF: the embeddings stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("embeddings")()
