"""Which words of a name tell whose name it is, and which are anybody's.

"Zimmer" of "Zimmer Biomet Holdings Inc." is distinctive; "Holdings" and "Inc." are not, nor is any
word of "Bank of Mexico": "bank" is an ordinary word, "of" a function word, and a country stands in
many texts for its own sake.

What is ordinary is known from word lists: the words that the bundled recogniser met in lower case,
terms of finance and technology, those below (law, offices, software, medicine, everyday life), and
regular forms of all of them. A caller who has the corpus can add its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from string import ascii_lowercase

from nes_spark.entities.lists import bundled_lexicon
from nes_spark.text.sentences import word_set

#: A word: letters and digits, with what an apostrophe joins ("O'Neil", "Keller's").
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

#: Legal forms of companies, folded and without full stops.
LEGAL_FORMS = word_set(
    "ab ag ao aps as asa berhad bhd bv bvba cia co company corp corporation cos eg eirl gmbh inc "
    "incorporated jsc kft kg kgaa kk lda limited llc llp lp ltd ltda mbh nl nv ojsc oy oyj pao "
    "pc plc pllc pt pte pty sa sab sae sarl sas sca sdn se snc spa spolka srl sro tbk vof"
)
#: Titles before names of people, without full stops.
TITLES = word_set(
    "Mr Mrs Ms Miss Mx Messrs Mme Mlle Madam Dr Prof Professor Judge Justice Magistrate Hon Sir "
    "Dame Lord Lady Rev Reverend Fr Sr Capt Captain Col Colonel Gen Lt Lieutenant Sgt Sergeant "
    "Maj Major Senator Governor Detective Inspector Constable Officer Attorney Advocate"
)
#: Roles and parties that stand in capitals before or behind a name and are no part of it.
ROLES = word_set(
    "President Chairman Chairwoman Chair Chief Executive Officer Director Manager Head CEO CFO "
    "COO CTO CIO CMO EVP SVP VP Secretary Treasurer Counsel Minister Mayor Representative "
    "Congressman Congresswoman Ambassador Commissioner Plaintiff Plaintiffs Defendant Defendants "
    "Appellant Appellants Appellee Appellees Respondent Respondents Petitioner Petitioners "
    "Claimant Claimants Applicant Applicants Debtor Creditor Trustee Intervenor Witness Nurse "
    "Agent Customer User Patient Analyst Engineer Founder Partner Principal Senior Junior"
)
MONTHS = word_set(
    "january february march april may june july august september october november december jan "
    "feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday "
    "saturday sunday spring summer autumn fall winter"
)
#: Words of grammar, and those that sentences begin with.
FUNCTION_WORDS = word_set(
    "a about above across after against all along also although am among an and another any are "
    "around as at away back be because been before behind being below beneath beside besides "
    "between beyond both but by can cannot could despite did do does doing done down during each "
    "either else even ever every except few for from further had has have having he hence her "
    "here hers herself him himself his how however i if in indeed inside instead into is it its "
    "itself just last later least less let like many may me meanwhile might mine more moreover "
    "most much must my myself near neither never nevertheless next no nobody none nor not "
    "nothing now of off often on once one only onto or other others otherwise our ours ourselves "
    "out outside over own per perhaps please quite rather same second several shall she should "
    "since so some somebody someone something soon still such than that the their theirs them "
    "themselves then there therefore these they third this those though three through throughout "
    "thus till to today together tomorrow too toward towards two under unless unlike until up "
    "upon us very via was we well were what whatever when where whereas whether which while who "
    "whoever whole whom whose why will with within without would yes yesterday yet you your "
    "yours yourself zero four five six seven eight nine ten eleven twelve hundred thousand "
    "million billion first fourth fifth"
)
#: Parts that many names of institutions and companies share; see also ``DESCRIPTORS``.
INSTITUTIONS = word_set(
    "academy administration advisers advisors agency airlines airways alliance army associates "
    "association authority bank board brothers bureau cabinet center centre chamber church "
    "circuit city clinic club coalition college commission committee commonwealth community "
    "confederation conference congress consortium cooperative council county court courts "
    "department directorate district division enterprise enterprises exchange faculty federal "
    "federation firm force forum foundation fund government group guard guild hall harbor health "
    "holding holdings hospital hospitals hotel house industries inn institute institution "
    "insurance international judiciary kingdom laboratories laboratory league library ltd "
    "magistrate market media medical ministry municipal museum national navy network office "
    "operations organisation organization parish parliament partners partnership party police "
    "press program project public railroad railway regional registry republic research reserve "
    "school schools secretariat securities senate service services society solutions state "
    "states station store stores studio studios supreme systems technologies technology "
    "territory theater theatre town township treasury tribunal trust union united university "
    "utilities village worldwide"
)
#: Parts that many names of places share.
GEOGRAPHY = word_set(
    "north south east west northern southern eastern western northeast northwest southeast "
    "southwest central upper lower middle mid great greater new old saint st san santa santo los "
    "las la el le les fort ft port mount mt lake lakes river rivers creek bay beach cape coast "
    "coastal island islands isle isles hill hills valley park parks springs falls heights ridge "
    "rock rocks field fields forest woods grove gardens garden point pointe harbour city town "
    "village county parish borough district province region area state states street avenue road "
    "square bridge station airport de del da do di du des der den van von und al rio sierra "
    "costa puerto isla ocean sea gulf peninsula basin desert canyon mountain mountains plains "
    "delta hub world continent continental metro metropolitan downtown big little"
)
#: Peoples, tongues and faiths: capitals that are no names of anybody.
DEMONYMS = word_set(
    "african american arab argentine argentinian asian australian austrian bangladeshi belgian "
    "bolivian brazilian british bulgarian cambodian canadian caribbean catholic chilean chinese "
    "christian colombian croatian cuban czech danish dominican dutch ecuadorian egyptian emirati "
    "english estonian european filipino finnish french german ghanaian greek guatemalan hebrew "
    "hindu hispanic honduran hungarian icelandic indian indonesian iranian iraqi irish islamic "
    "israeli italian jamaican japanese jewish jordanian kazakh kenyan korean kuwaiti latin latino "
    "latvian lebanese lithuanian malaysian mexican mongolian moroccan muslim nicaraguan nigerian "
    "nordic norwegian pakistani panamanian paraguayan peruvian polish portuguese protestant roman "
    "romanian russian saudi scandinavian scottish serbian singaporean slovak slovenian spanish "
    "swedish swiss taiwanese thai tunisian turkish ukrainian uruguayan venezuelan vietnamese "
    "welsh"
)
#: Countries, states and large cities, and the words of those with several: they stand in names of
#: companies and courts, and in texts for their own sake.
PLACES = word_set(
    "africa america americas antarctica asia australia europe eurasia afghanistan albania "
    "algeria andorra angola argentina armenia austria azerbaijan bahamas bahrain bangladesh "
    "barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil britain brunei "
    "bulgaria burma cambodia cameroon canada chad chile china colombia congo croatia cuba cyprus "
    "czechia denmark dominica ecuador egypt england eritrea estonia ethiopia fiji finland france "
    "gabon gambia georgia germany ghana greece grenada guatemala guinea guyana haiti honduras "
    "hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan "
    "kazakhstan kenya korea kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya "
    "liechtenstein lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritius "
    "mexico moldova monaco mongolia montenegro morocco mozambique myanmar namibia nepal "
    "netherlands zealand nicaragua niger nigeria norway oman pakistan panama paraguay peru "
    "philippines poland portugal qatar romania russia rwanda samoa arabia scotland senegal "
    "serbia seychelles singapore slovakia slovenia somalia spain sudan suriname sweden "
    "switzerland syria taiwan tajikistan tanzania thailand togo tonga tunisia turkey "
    "turkmenistan uganda ukraine uruguay uzbekistan venezuela vietnam wales yemen zambia "
    "zimbabwe alabama alaska arizona arkansas california carolina colorado connecticut dakota "
    "delaware florida hampshire hawaii idaho illinois indiana iowa jersey kansas kentucky "
    "louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana "
    "nebraska nevada york ohio oklahoma oregon pennsylvania tennessee texas utah vermont "
    "virginia washington wisconsin wyoming columbia ontario quebec alberta manitoba saskatchewan "
    "scotia brunswick queensland victoria bavaria saxony amsterdam athens atlanta auckland "
    "austin baltimore bangalore bangkok barcelona beijing berlin birmingham bogota boston "
    "brisbane brussels budapest cairo calgary charlotte chicago cincinnati cleveland cologne "
    "columbus copenhagen dallas delhi denver detroit dhaka dubai dublin edinburgh francisco "
    "frankfurt geneva glasgow hamburg hanoi helsinki houston istanbul jakarta jerusalem "
    "johannesburg karachi kiev kong kyiv lagos lima lisbon liverpool london lyon madrid "
    "manchester manila manhattan marseille melbourne memphis miami milan milwaukee minneapolis "
    "montreal moscow mumbai munich nairobi naples nashville orleans oslo ottawa paris perth "
    "philadelphia phoenix pittsburgh portland prague riyadh rome rotterdam sacramento seattle "
    "seoul shanghai shenzhen stockholm strasbourg stuttgart sydney tampa taipei tehran tokyo "
    "toronto tunis valencia vancouver venice vienna warsaw zurich pacific atlantic arctic "
    "mediterranean caribbean baltic iberia scandinavia siberia balkans"
)

#: Ordinary words that people rarely say in earnings calls: courts and offices, software and
#: support, medicine, and the rest of life. Base forms; regular endings are seen through.
_MORE = word_set(
    "abandon abduct abet abolish abscond absent abstract abuse accomplice accord accuse acquit "
    "adduce adjourn adjudicate admin admissible admission adversary adviser affidavit affirm "
    "aggravate aggressor alias alibi alien allegation allege aloud ambit ambulance amicus "
    "ammunition annex annoy annul anti anxiety apologise appellant appellee applicant arbiter "
    "arbitrary arrange arson ascertain assail attain attest attic aunt autumn avail await "
    "awkward bailiff bakery balcony ballot bandage baptise barrister basement bathtub beforehand "
    "belated bereave bigamy biopsy blanket bleed blizzard bloody blur bookmark boot bore borne "
    "boss bowel bra brake bribe brick bride brown bug bully bureaucrat burglar butcher bylaw "
    "cabin cache calf captcha caption captive carpenter cart cartridge cassation casserole "
    "castle catheter cease censor certiorari chapel checkbox checkout chimney choir citation "
    "civic claimant clan clemency clerk clinician clipboard closet clue codeine coffin coherent "
    "comma communal compassion compel competent complain complainant compose con concede "
    "conceive concur condemn condo condone confer confess confiscate conform conjugal conscience "
    "constable construe consul contempt contravene convene convict cookie cop corroborate "
    "cottage cough counterclaim counterfeit courtroom coward crypt culpable culprit cumbersome "
    "cursor custodial daddy dashboard deaf dean debtor decease deceit decree defame defect "
    "defendant deficient defraud degrade delegate deliberate democracy denote depart depict "
    "deport depose deposition deprive desktop despair detain detention deter detriment diabetic "
    "diarrhea dictate dire disc discern disciplinary discriminate dishonest dismiss dispense "
    "dissent dizzy docket donkey doorbell dorm drawer driveway drown drunk duplicate duress "
    "eavesdrop edema elbow elder eldest elector emoji empower enact encrypt endorse enforce "
    "enquire entail entitle envelope escort espresso estop ethernet evict examine exempt exhaust "
    "exile expel expunge extort extradite eyewitness faint false farewell faucet felony fence "
    "fetch fever fiduciary firearm firewall firmware flee fluent folder font foreclose foreman "
    "forfeit forfeiture forge forgery forthwith foster foundry fracture freeze fridge frivolous "
    "fugitive fulfil furnace furtive gallows gang gavel gear ghost girlfriend glitch gown "
    "grandchild granddaughter grandfather gravel grievance grocery guarantor guardian guilt "
    "habeas hacker hallway hammer handcuff harass hardship harm headache headphone hearsay "
    "hectare helpdesk hotfix hotspot housewife humid hygiene ignorant illicit imam immigrant "
    "impartial impeach impede implicit imprison improper impugn inbox incapable incite "
    "incriminate indemnity indict infant infer infringe inhale inherit injunction injure inmate "
    "innocent inquest inquire inquiry insane insist insolvent inspect instruct insurgent "
    "intercept interfere interlocutory intern interrogate intersect interval intervene invoke "
    "irrigation jail jewel joinder juice jurist juror juvenile kidnap kneel knife lamp landlord "
    "larceny laundry lawn leaflet legible legislate lesion lessee lessor letterhead libel "
    "librarian licence licensee linen lint litigant litigate locksmith login logout lottery "
    "lustration magistrate mailbox malice malicious malware mandamus mandate manslaughter marble "
    "marital marry mason meadow mediate medication mercy metadata midwife migrant minibus mint "
    "miracle misconduct misdemeanor mistrial modem monarch moot moreover motel motive mustard "
    "mutiny nausea neglect neighbor neighbour niece nightclub nod notary notwithstanding null "
    "nullity nun oath obey oblige obscene obstruct occupant offence offend omit oneself onus "
    "opine oral ordeal ordinance oven overcrowd overrule overturn pamphlet panic pantry "
    "paragraph paralegal pardon parole passive password paternal patrol pauper payee pecuniary "
    "penal penitentiary perjury perpetrator persecute petitioner pharmacist photocopy pillow "
    "plaintiff plea plead plug plumber plural poison pond portray postal practise pray precede "
    "precinct preclude prejudice prerogative prescribe presumption prince princess prisoner "
    "privacy privilege probable probate probation procedural proclaim procure prohibit prolong "
    "prompt promulgate proprietor proscribe prosecute prosecution prosecutor psychiatric "
    "psychologist pulpit pulse punish punitive pupil purport quash quorum rabbi rape ratify "
    "reboot rebut recidivist reckless rectify recuse redact redeem refrigerator refuge refute "
    "registrar registry regret reinstall reinstate rejoin remand repeal replevin reprisal "
    "requisite rescind reside respondent restitution restrain retrial revoke rifle riot roadside "
    "robber robe rollback roof rooftop router sabotage sailor salad sanction sapphire scar "
    "schema scissors screenshot scribe scroll sculpture seaside senate sergeant servant sewer "
    "shame sheriff shortcut shovel sibling sick signatory silent sinus slander sleeve sneeze "
    "soap solemn solicitor sorrow sovereign spam spectator speedy spine spoon spouse staircase "
    "stamp steal stepfather stigma stipulate stomach stranger strangle strap stroke stub sue "
    "suffice summon summons sunlight superintendent supervise supervisor suppress surgeon "
    "surname surrogate survivor suspicion swear swollen sworn symptom syntax tablet tacit tape "
    "taxi tentative testify testimony theft thief thigh thorough throat throne thumb thunder "
    "toilet token toolbar tooth trainee traitor trauma treason tribe tribunal troubleshoot tutor "
    "typo ulcer ultra unanimous unconstitutional unfit unilateral uninstall unlawful unplug "
    "uphold uproar urine username usher vacate vague valve vandal verdict verify veto villa "
    "violate void volcano voucher waist waiter waitress ward warden warrant weapon webcam weep "
    "whereupon whistle widget widow woodland workaround workspace wound wreck wrist writ "
    "wrongful yoga"
)
_ENDINGS = (
    ("ies", ("y",)),
    ("ied", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("ers", ("", "e")),
    ("er", ("", "e")),
    ("ors", ("", "e")),
    ("or", ("", "e")),
    ("ions", ("", "e")),
    ("ion", ("", "e")),
    ("ments", ("",)),
    ("ment", ("",)),
    ("ly", ("", "le")),
    ("ness", ("",)),
    ("able", ("", "e")),
    ("al", ("",)),
)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    lists = bundled_lexicon()
    jargon = (word for term in lists["jargon"] for word in words_of(term))
    # transcripts have some names in lower case
    names = PLACES | {fold(name) for name in {*lists["given"]} - {*lists["ambiguous"]}}
    known = frozenset([*lists["common"], *map(fold, jargon)]) - names
    return known | _MORE | FUNCTION_WORDS | MONTHS


@lru_cache(maxsize=65_536)
def is_ordinary(word: str, category: str = "Organization") -> bool:
    """Return whether a word, case ignored, is an ordinary one of English (or no word at all).

    Regular forms of ordinary words are ordinary too, but not in names of people: "Parker" is not
    the comparative of "park".

    Examples
    --------
    >>> [is_ordinary(w) for w in ("Plaintiffs", "Holdings", "Zimmer", "Lindqvist", "2020")]
    [True, True, False, False, True]
    """
    low = fold(word)
    known = _known()
    if len(low) < 2 or low.isdigit() or low in known:
        return True
    if category == "Person":
        return False
    for ending, rests in _ENDINGS:
        stem = low.removesuffix(ending)
        if stem == low or len(stem) < 3:
            continue
        if any(stem + rest in known for rest in rests):
            return True
        # a doubled consonant: "planned", "running"
        if ending in ("ed", "ing", "er", "ers") and stem[-1] == stem[-2] and stem[:-1] in known:
            return True
    return False


@lru_cache(maxsize=1)
def listed_names() -> frozenset[str]:
    """Well-known companies and products, ordinary words among them ("Apple", "Best Buy")."""
    lists = bundled_lexicon()
    return frozenset([*lists["organizations"], *lists["products"]])


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    """Beginnings of ordinary words, three letters or more."""
    return frozenset(word[:n] for word in _known() for n in range(3, len(word)))


#: What a proposal or a paper is divided into, and who reads it: "Aim 2", "WP1", "Referee 2". In a
#: longer name it is nothing of the kind.
PARTS_OF_PROPOSALS = re.compile(
    r"(?<![\w'’&-])(?:"
    r"(?:Aim|Deliverable|Fig(?:ure)?|Milestone|Objective|Referee|Reviewer|Table|Task"
    r"|Work [Pp]ackage)s?\.? (?:[A-Z]?\d{1,2}(?:\.\d{1,2})?[a-d]?|[IVX]+)"
    r"|WPs?\d{1,2}|Referees?|Reviewers?)(?![\w&-]|[.,]\d| [A-Z]\w* [A-Z])"
)
#: Ways to work that anybody may follow, and who has learnt them.
METHODS = re.compile(
    r"\b(?:(?:Master )?(?:Black|Green|Yellow) Belts?|(?:Lean )?Six Sigma(?: Lean)?(?: Sensei)?"
    r"|Lean Sigma|Kaizen|Kanban)\b(?! (?!Sensei)[A-Z])"
)


def is_beginning(word: str) -> bool:
    """Return whether a word of three to six letters is only the beginning of ordinary ones.

    Examples
    --------
    >>> [is_beginning(w) for w in ("Regu", "prog", "program", "Orsted")]
    [True, True, False, False]
    """
    low = fold(word)
    return len(low) <= 6 and low.isalpha() and low in _beginnings() and not is_ordinary(low)


@lru_cache(maxsize=65_536)
def is_cut_short(word: str) -> bool:
    """Return whether a word looks like an ordinary one that broke off or was heard wrong.

    It is the beginning of an ordinary word (:func:`is_beginning`) or one letter away from one (five
    letters or more). Ordinary words themselves are not.

    Examples
    --------
    >>> [is_cut_short(w) for w in ("prog", "habour", "program", "reproxalap")]
    [True, True, False, False]
    """
    low = fold(word)
    if is_beginning(low):
        return True
    if is_ordinary(low) or not low.isalpha() or len(low) < 5:
        return False
    cuts = [(low[:i], low[i:]) for i in range(len(low) + 1)]
    near = {a + b[1:] for a, b in cuts if b}
    near |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    near |= {a + c + b[1:] for a, b in cuts if b for c in ascii_lowercase}
    near |= {a + c + b for a, b in cuts for c in ascii_lowercase}
    return not _known().isdisjoint(near)


def fold(word: str) -> str:
    """Return a word as lists and comparisons have it: case folded, straight apostrophes."""
    return word.casefold().replace("’", "'")


def words_of(name: str) -> list[str]:
    """Return the words of a name; hyphens, full stops and signs separate them.

    Examples
    --------
    >>> words_of("Coca-Cola Co. (U.S.)")
    ['Coca', 'Cola', 'Co', 'U', 'S']
    """
    return WORD.findall(name)


def is_acronym(word: str) -> bool:
    """Return whether a word is written in two to six capitals and digits, a capital first."""
    return 2 <= len(word) <= 6 and word[0].isupper() and word.isupper() and word.isalnum()


def is_generic(word: str, category: str = "Organization") -> bool:
    """Return whether a word of a name tells nothing by itself.

    Legal forms, function words, months, peoples, generic parts of institutions and places; in names
    that are not a person's also titles and, outside category Location, countries and large cities.
    """
    low = fold(word)
    if low in FUNCTION_WORDS or low in MONTHS or low.isdigit() or len(low) < 2:
        return True
    if category == "Person":
        return (
            word.capitalize() in TITLES
            or low in DEMONYMS
            or low in ("jr", "sr", "ii", "iii", "iv", "de", "van")
        )
    if low in LEGAL_FORMS or low in INSTITUTIONS or low in GEOGRAPHY or low in DEMONYMS:
        return True
    return category != "Location" and low in PLACES


def is_fragment(name: str) -> bool:
    """Return whether a name is a single word of geography: part of a name, or of none.

    Examples
    --------
    >>> [is_fragment(n) for n in ("Northern", "St.", "Gulf Coast", "Ohio")]
    [True, True, False, False]
    """
    words = [fold(word) for word in words_of(name)]
    return len(words) == 1 and (words[0] in GEOGRAPHY or words[0].removesuffix("s") in GEOGRAPHY)


@lru_cache(maxsize=32_768)
def _tells_nothing(word: str, category: str) -> bool:
    return is_generic(word, category) or is_ordinary(word, category)


def distinctive_words(
    name: str, category: str, ordinary: Collection[str] | None = None
) -> list[str]:
    """Return the words of a name that tell whose it is.

    Parameters
    ----------
    name : str
    category : str
        Words of a person's name are judged by English alone; elsewhere generic parts and, outside
        category Location, places are left out too.
    ordinary : collection of str, optional
        Further ordinary words, folded: for example those that the corpus has in lower case.

    Returns
    -------
    list of str
        As written, each once, in order. Words of one or two letters only where they are the name.

    Examples
    --------
    >>> distinctive_words("Zimmer Biomet Holdings Inc.", "Organization")
    ['Zimmer', 'Biomet']
    >>> distinctive_words("Bank of Mexico", "Organization")
    []
    >>> distinctive_words("Dr. Ana Orr", "Person")
    ['Ana', 'Orr']
    """
    found: dict[str, None] = {}
    words = words_of(name)
    for word in words:
        if _tells_nothing(word, category) or (ordinary and fold(word) in ordinary):
            continue
        if len(word) < 3 and len(words) > 1:
            continue
        found[word] = None
    return list(found)
