import pytest

from nes_spark.building.text_measures import load_calls, measure_boundaries
from nes_spark.text import Turn, find_presentation, split_turns
from tests.text.hashing import CORPORA

OPENING = (
    "Good morning and welcome to the Acme third quarter earnings conference call. All "
    "participants are in listen-only mode. After the remarks there will be a question and answer "
    "session. To ask a question press star one. This call is being recorded. I turn the call "
    "over to Ann Roe."
)
REMARKS = "We are pleased with the quarter. Revenue grew in every region. " * 12
SESSION = (
    "Thank you. We will now begin the question and answer session. To ask a question, press "
    "star then one on your telephone keypad. Our first question comes from Bo Lee with Big Bank."
)
QUESTION = (
    "Thanks for taking my question. Could you talk about margins in the next quarter, please?"
)


def call(*parts):
    return [Turn(text, speaker) for speaker, text in parts]


def basic(closing="With that, operator, please open the line for questions."):
    return call(
        ("Operator", OPENING),
        ("Ann Roe", "Thank you. Good morning. Here is Cy Poe. " + REMARKS),
        ("Cy Poe", REMARKS + closing),
        ("Operator", SESSION),
        ("Bo Lee", QUESTION),
        ("Cy Poe", "Sure. Margins will be fine, as we said in our remarks."),
    )


def test_ends_before_the_session_and_drops_the_operator():
    found = find_presentation(basic())
    assert found.qa_start_turn == 3
    assert found.indices == (1, 2)
    assert found.boundary == "session_opened"
    kept = find_presentation(basic(), drop_operator=False)
    assert kept.indices == (0, 1, 2)


def test_unnamed_speakers_are_enough():
    turns = [Turn(t.text, f"Speaker {i}") for i, t in enumerate(basic())]
    assert find_presentation(turns).indices == (1, 2)


def test_session_announced_for_later_is_not_the_session():
    turns = basic()
    turns[1] = Turn("We will take your questions after the remarks. " + REMARKS, "Ann Roe")
    assert find_presentation(turns).qa_start_turn == 3


def test_house_rules_between_asking_and_session_belong_to_the_presentation():
    turns = basic("With that, Ann, let's go to questions.")
    turns.insert(3, Turn("Please ask one question each. Operator, open the line?", "Ann Roe"))
    assert find_presentation(turns).qa_start_turn == 4


@pytest.mark.parametrize(
    "remark",
    [
        "We will come back to this in the question and answer session.",
        "I am happy to discuss that in more detail in the Q&A.",
        "Cy will take questions on it in the question and answer session.",
    ],
)
def test_a_remark_about_the_session_does_not_open_it(remark):
    turns = basic()
    more = "So what did we do about the costs of the new plant and of the old one? We cut them."
    turns[1:2] = [
        Turn(REMARKS + remark, "Ann Roe"),
        Turn(more, "Di Fox"),
        Turn(REMARKS, "Ann Roe"),
    ]
    found = find_presentation(turns)
    assert found.qa_start_turn == 5
    assert found.indices == (1, 2, 3, 4)


@pytest.mark.parametrize(
    "opening",
    [
        "Thank you, Cy. Let's move to the questions. Bo, please go ahead.",
        "Thank you. So now we open the floor for questions. I see Bo Lee has his hand up.",
        "We are now ready to take your questions. Please raise your hand if you have one.",
        "Thank you. The first question is from Bo Lee of Big Bank.",
    ],
)
def test_a_host_who_opens_the_questions_is_part_of_the_session(opening):
    turns = call(
        ("Ann Roe", "Good morning. I am Ann Roe from investor relations. " + REMARKS),
        ("Cy Poe", REMARKS * 2 + "Back to you, Ann."),
        ("Ann Roe", opening),
        ("Bo Lee", QUESTION),
        ("Cy Poe", "Sure. Margins will be fine, as we said in our remarks."),
        ("Ann Roe", "Next question please, Di Fox."),
        ("Di Fox", "Thanks. What about the costs of the new plant in the coming year, please?"),
    )
    assert find_presentation(turns).qa_start_turn == 2


def test_prepared_questions_before_the_formal_session():
    turns = basic("Now we'll take your questions.")
    read = [
        Turn("Bo Lee of Big Bank asks: how do you think about the costs of the new plant?", "Ann"),
        Turn("Thanks for your question. The costs are as planned and will stay so.", "Cy Poe"),
    ] * 5
    found = find_presentation(turns[:3] + read + turns[3:])
    assert (found.qa_start_turn, found.boundary) == (3, "handover")


def test_session_opened_inside_a_long_turn_cuts_it():
    tail = "Ladies and gentlemen, if you want to ask a question, please dial star one. "
    turns = call(
        ("A", "Good morning. " + REMARKS),
        ("B", REMARKS + REMARKS + tail + "First question comes from Bo Lee of Big Bank."),
        ("C", QUESTION),
    )
    found = find_presentation(turns)
    assert found.qa_start_turn == 2
    assert found.turns[1].text == (REMARKS + REMARKS).strip()


def test_no_session_keeps_everything():
    found = find_presentation(call(("A", REMARKS), ("B", REMARKS)))
    assert (found.qa_start_turn, found.boundary, len(found.turns)) == (None, "no_questions", 2)


def test_an_interview_has_no_presentation():
    ask = "Great to see you here. Can you update us on what you see among consumers these days?"
    answer = "Yes, what we see is steady spending in all categories and regions this year."
    found = find_presentation([Turn(ask, "Mo"), Turn(answer, "Ann")] * 8)
    assert found.turns == ()
    assert found.boundary == "interview"


def test_method_none_keeps_all():
    found = find_presentation(basic(), method="none")
    assert len(found.turns) == 6
    assert found.boundary == "none"


def test_plain_text_with_speaker_lines():
    text = "\n".join(f"{t.speaker}: {t.text}" for t in basic())
    turns = split_turns(text)
    assert [t.speaker for t in turns] == [t.speaker for t in basic()]
    found = find_presentation(turns)
    assert found.indices == (1, 2)


def test_speaker_lines_with_titles_and_headings():
    text = (
        f"Ann Roe - Chief Executive Officer:\n{REMARKS}\n\nCy Poe (CFO): {REMARKS}\n"
        f"Question-and-Answer Session\nOperator: Hello.\nBo Lee, Big Bank: {QUESTION}\n"
    )
    turns = split_turns(text)
    assert [t.speaker for t in turns] == ["Ann Roe", "Cy Poe", "", "Operator", "Bo Lee"]
    found = find_presentation(turns)
    assert (found.indices, found.boundary) == ((0, 1), "heading")


def test_plain_text_in_one_piece():
    text = " ".join(t.text for t in basic())
    found = find_presentation(split_turns(text))
    assert len(found.turns) == 1
    kept = found.turns[0].text
    assert kept.endswith("please open the line for questions. Thank you.")
    assert "first question" not in kept


def test_a_note_with_a_colon_is_no_speaker():
    assert len(split_turns("Note: all figures are in dollars.\nSource: us.\n\nMore text.")) == 2


@pytest.fixture(scope="module")
def measured():
    if not (CORPORA / "earnings21" / "gold.jsonl").exists():
        pytest.skip(f"no corpora at {CORPORA}; set NES_SPARK_CORPORA")
    calls = load_calls(CORPORA)
    return calls, measure_boundaries(calls)


def test_boundaries_of_hand_read_calls(measured):
    calls, rows = measured
    assert len(rows) == 22
    assert sum(row.exact for row in rows) >= 20
    for one, row in zip(calls, rows, strict=True):
        if row.gold is None:
            assert row.found is None
            continue
        # None swallows the question session.
        assert row.found is not None
        session = len(one.turns) - row.gold
        assert row.found - row.gold < max(2, 0.1 * session)
