"""spark-submit jobs/documents.py --conf CONF: the documents stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("documents")()
