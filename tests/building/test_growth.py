"""What the growth of stages is computed from: the lines of the load benchmark."""

import pytest
from click.testing import CliRunner

from tests.benchmarks.growth import exponents, grown, line_through, main, read, table

LINE = (
    "{name:<13}{seconds:8.1f} s {used:8.1f} s of processor {all:6.2f} GiB "
    "(JVM {jvm:.2f}, driver {driver:.2f}, workers 0.40, largest 0.10)  "
    "{n:,} documents, 0 quarantine"
)


def log(n, quadratic=0.0, driver=0.3):
    """A run whose documents take .01 s each, whose attack grows with the square, and the rest."""
    stages = {"documents": 0.01 * n, "- documents": quadratic, "embedder": 0.1, "release": 99.0}
    lines = [
        LINE.format(name=name, seconds=s, used=2 * s, all=1 + driver, jvm=1.0, driver=driver, n=n)
        for name, s in stages.items()
    ]
    end = f"{n:,} documents, 18.7 MB, skew none: {0.01 * n + quadratic + 5:.0f} s, peak 1.30 GiB"
    return "\n".join([*lines, end + " of 4", "  30% of all chunks in the largest component"])


def refused(n):
    """A run that a gate refused: the end of its log instead of the last lines."""
    return log(n, 3.0).partition(f"\n{n:,} documents, 18")[0] + "\nerror: release not published"


def test_lines_are_read_and_parts_are_told_from_stages():
    run = read(log(10_000, 7.0))
    assert run.documents == 10_000 and read(refused(10_000)).stages == run.stages | {
        "release: documents": 3.0
    }
    assert run.stages == {"documents": 100.0, "release: documents": 7.0, "embedder": 0.1}
    assert run.peaks == {"all": 1.3, "JVM": 1.0, "driver": 0.3, "workers": 0.4}


def test_what_is_no_log_is_refused(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("could not start Spark\n")
    with pytest.raises(ValueError, match="how many documents"):
        read(broken.read_text())
    whole = tmp_path / "whole"
    whole.write_text(log(1000, 1.0))
    found = CliRunner().invoke(main, [str(whole), str(broken)])
    assert found.exit_code == 1 and "how many documents" in found.output
    assert CliRunner().invoke(main, [str(whole)]).exit_code == 2


def test_growth_is_that_of_the_last_step():
    assert exponents([1, 10, 100], [3.0, 30.0, 3000.0]) == [1.0, 2.0]
    assert grown(100, 3000.0, 2.0, 1000) == pytest.approx(300_000)
    assert line_through([100, 200, 300], [1.0, 1.0, 1.5], 500) == pytest.approx(2.5)
    assert line_through([100, 200], [1.5, 1.0], 500) == 1.0


def test_the_table_says_what_grows_faster_than_the_corpus():
    runs = [read(log(n, 2e-7 * n * n, 0.3 + n / 1e6)) for n in (100_000, 1000, 10_000)]
    lines = table(runs, 1_000_000)
    row = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in lines}
    assert row["documents"] == ["10.0", "100.0", "1000.0", "1.00", "1.00", "10,000"]
    assert row["release: documents"] == ["0.2", "20.0", "2000.0", "2.00", "2.00", "200,000"]
    assert row["below a second"][:3] == ["0.1", "0.1", "0.1"]
    assert row["in all"] == ["10", "120", "3000", "1.07", "1.40", "210,000"]
    assert row["driver"] == ["0.30", "0.31", "0.40", "1.30"]
    assert row["JVM"] == ["1.00", "1.00", "1.00", "1.00"]
