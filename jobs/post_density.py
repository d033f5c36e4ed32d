"""spark-submit jobs/post_density.py --conf CONF: the post_density stage alone."""

from nes_spark.cli import stage_command

if __name__ == "__main__":
    stage_command("post_density")()
