from nes_spark.entities.cells import cell_of, cell_value, recode

BANKS = {"Investment Bank": ["Goldman Sachs", "Morgan Stanley"]}


def test_papers_example():
    assert cell_value(["Morgan Stanley", "Goldman Sachs"]) == "Goldman Sachs & Morgan Stanley"


def test_duplicates_and_empty_names_do_not_count():
    assert cell_value(["B", "A", "B", ""]) == "A & B"
    assert cell_value([]) == ""


def test_recoding_merges_into_one_class():
    assert recode(["Goldman Sachs", "Morgan Stanley", "Acme"], BANKS) == ["Acme", "Investment Bank"]


def test_every_category_has_a_value():
    cell = cell_of({"Organization": ["X"]}, ["Organization", "Person"], {"Person": {"P": ["Y"]}})
    assert cell == {"Organization": "X", "Person": ""}


def test_rules_match_whole_names_and_names_go_before_rules():
    classes = {"Bank": ["re:.* Bank", "Big Bank Holdings"], "Power": ["Elm Bank"]}
    names = ["Deutsche Bank", "Big Bank Holdings", "Elm Bank", "Bank of Oslo", "Deutsche Bank"]
    assert recode(names, classes) == ["Bank", "Bank of Oslo", "Power"]


def test_many_tables_do_not_disturb_each_other():
    tables = [{f"class {i}": ["X"]} for i in range(200)]
    assert [recode(["X"], t) for t in tables] == [[f"class {i}"] for i in range(200)]
    assert recode(["X"], tables[-1]) == ["class 199"]
