"""Which words of a name tell whose name it is, and which are anybody's.

"Zimmer" of "Zimmer Biomet Holdings Inc." is distinctive; "Holdings" and "Inc." are not, nor is any
word of "Bank of Mexico": "bank" is an ordinary word, "of" a function word, and a country stands in
many texts for its own sake.

What is ordinary is known from word lists: the words that the bundled recogniser met in lower case,
terms of finance and technology, those below (law, offices, software, medicine, everyday life), and regular forms of both. A caller
who has the corpus can add its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from nes_spark.text.sentences import word_set

#: A word: letters and digits, with what an apostrophe joins ("O'Neil", "Keller's").
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

#: Legal forms of companies, folded and without full stops.
LEGAL_FORMS = word_set(
    "ab ag ao aps as asa bv bvba cia co company corp corporation cos eg eirl gmbh inc incorporated "
    "jsc kft kg kgaa kk lda limited llc llp lp ltd ltda mbh nl nv ojsc oy oyj pao pc plc pllc pt "
    "pte pty sa sab sae sarl sas sca se snc spa spolka srl sro vof"
)
#: Titles before names of people, without full stops.
TITLES = word_set(
    "Mr Mrs Ms Miss Mx Messrs Mme Mlle Madam Dr Prof Professor Judge Justice Magistrate Hon Sir "
    "Dame Lord Lady Rev Reverend Fr Sr Capt Captain Col Colonel Gen Lt Lieutenant Sgt Sergeant Maj "
    "Major Senator Governor Detective Inspector Constable Officer Attorney Advocate"
)
#: Roles and parties that stand in capitals before or behind a name and are no part of it.
ROLES = word_set(
    "President Chairman Chairwoman Chair Chief Executive Officer Director Manager Head CEO "
    "CFO COO CTO CIO CMO EVP SVP VP Secretary Treasurer Counsel Minister Mayor Representative "
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
    "either else even ever every except few for from further had has have having he hence her here "
    "hers herself him himself his how however i if in indeed inside instead into is it its itself "
    "just last later least less let like many may me meanwhile might mine more moreover most much "
    "must my myself near neither never nevertheless next no nobody none nor not nothing now of off "
    "often on once one only onto or other others otherwise our ours ourselves out outside over own "
    "per perhaps please quite rather same second several shall she should since so some somebody "
    "someone something soon still such than that the their theirs them themselves then there "
    "therefore these they third this those though three through throughout thus till to today "
    "together tomorrow too toward towards two under unless unlike until up upon us very via was we "
    "well were what whatever when where whereas whether which while who whoever whole whom whose "
    "why will with within without would yes yesterday yet you your yours yourself zero four five "
    "six seven eight nine ten eleven twelve hundred thousand million billion first fourth fifth"
)
#: Parts that many names of institutions and companies share; see also ``DESCRIPTORS``.
INSTITUTIONS = word_set(
    "academy administration advisers advisors agency airlines airways alliance army associates "
    "association authority bank board brothers bureau cabinet center centre chamber church circuit "
    "city clinic club coalition college commission committee commonwealth community confederation "
    "conference congress consortium cooperative council county court courts department directorate "
    "district division enterprise enterprises exchange faculty federal federation firm force forum "
    "foundation fund government group guard guild hall harbor health holding holdings hospital "
    "hospitals hotel house industries inn institute institution insurance international judiciary "
    "laboratories laboratory league library ltd magistrate market media medical ministry municipal "
    "museum national navy network office operations organisation organization parish parliament "
    "partners partnership party police press program project public railroad railway regional "
    "registry republic research reserve school schools secretariat securities senate service "
    "services society solutions state states station store stores studio studios supreme systems "
    "technologies technology territory theater theatre town township treasury tribunal trust union "
    "united university utilities village worldwide"
)
#: Parts that many names of places share.
GEOGRAPHY = word_set(
    "north south east west northern southern eastern western northeast northwest southeast "
    "southwest central upper lower middle mid great greater new old saint st san santa santo los "
    "las la el le les fort ft port mount mt lake lakes river rivers creek bay beach cape coast "
    "coastal island islands isle isles hill hills valley park parks springs falls heights ridge "
    "rock rocks field fields forest woods grove gardens garden point pointe harbour city town "
    "village county parish borough district province region area state states street avenue road "
    "square bridge station airport de del da do di du des der den van von und al rio sierra costa "
    "puerto isla ocean sea gulf peninsula basin desert canyon mountain mountains plains delta hub "
    "world continent continental metro metropolitan downtown big little"
)
#: Peoples, tongues and faiths: capitals that are no names of anybody.
DEMONYMS = word_set(
    "african american arab argentine asian australian austrian belgian brazilian british bulgarian "
    "canadian caribbean catholic chilean chinese christian colombian croatian czech danish dutch "
    "egyptian english estonian european filipino finnish french german greek hebrew hindu hispanic "
    "hungarian icelandic indian indonesian iranian iraqi irish islamic israeli italian japanese "
    "jewish kenyan korean latin latino latvian lithuanian malaysian mexican muslim nigerian nordic "
    "norwegian pakistani peruvian polish portuguese protestant roman romanian russian saudi "
    "scandinavian scottish serbian slovak spanish swedish swiss thai turkish ukrainian vietnamese "
    "welsh"
)
#: Countries, states and large cities, and the words of those with several: they stand in names of
#: companies and courts, and in texts for their own sake.
PLACES = word_set(
    "africa america americas antarctica asia australia europe eurasia afghanistan albania algeria "
    "andorra angola argentina armenia austria azerbaijan bahamas bahrain bangladesh barbados "
    "belarus belgium belize benin bhutan bolivia bosnia botswana brazil britain brunei bulgaria "
    "burma cambodia cameroon canada chad chile china colombia congo croatia cuba cyprus czechia "
    "denmark dominica ecuador egypt england eritrea estonia ethiopia fiji finland france gabon "
    "gambia georgia germany ghana greece grenada guatemala guinea guyana haiti honduras hungary "
    "iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya "
    "korea kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein "
    "lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritius mexico moldova "
    "monaco mongolia montenegro morocco mozambique myanmar namibia nepal netherlands zealand "
    "nicaragua niger nigeria norway oman pakistan panama paraguay peru philippines poland portugal "
    "qatar romania russia rwanda samoa arabia scotland senegal serbia seychelles singapore slovakia "
    "slovenia somalia spain sudan suriname sweden switzerland syria taiwan tajikistan tanzania "
    "thailand togo tonga tunisia turkey turkmenistan uganda ukraine uruguay uzbekistan venezuela "
    "vietnam wales yemen zambia zimbabwe alabama alaska arizona arkansas california carolina "
    "colorado connecticut dakota delaware florida hampshire hawaii idaho illinois indiana iowa "
    "jersey kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi "
    "missouri montana nebraska nevada york ohio oklahoma oregon pennsylvania tennessee texas utah "
    "vermont virginia washington wisconsin wyoming columbia ontario quebec alberta manitoba "
    "saskatchewan scotia brunswick wales queensland victoria bavaria saxony amsterdam athens "
    "atlanta auckland austin baltimore bangalore bangkok barcelona beijing berlin birmingham "
    "bogota boston brisbane brussels budapest cairo calgary charlotte chicago cincinnati cleveland "
    "cologne columbus copenhagen dallas delhi denver detroit dhaka dubai dublin edinburgh "
    "francisco frankfurt geneva glasgow hamburg hanoi helsinki houston istanbul jakarta "
    "jerusalem johannesburg karachi kiev kong kyiv lagos lima lisbon liverpool london lyon madrid "
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
    "adduce adjourn adjudicate admin admissible admission adversary adviser affidavit affirm afraid "
    "aggravate aggressor airport alias alibi alien allege allegation aloud ambit ambulance amend "
    "amicus ammunition annex annoy annul anonymous anti anxiety apartment apologise apologize appeal "
    "appellant appellate appellee applicant arbiter arbitrary arbitration armed arrange arrest arson "
    "ascertain assail assault attach attain attest attic attorney aunt autumn avail await awkward "
    "backup bail bailiff bakery balcony ballot ban bandage bankrupt baptise barrister basement "
    "bathroom bathtub battery beach bed bedroom beforehand behalf belated bereave bias bicycle bigamy "
    "bilateral biopsy blanket bleed blizzard bloody blur boiler bookmark boot bore borne boss bother "
    "bowel bra brake breach bribe brick bride bright brown browser bug bugle bulb bully bureaucrat burglar "
    "burial butcher bylaw cabin cable cache calf cancel capacity capital captcha captive caption "
    "carpenter cart cartridge casserole cassation castle catheter cause caution cease cell cemetery "
    "censor certiorari challenge chapel chapter chat checkbox checkout chest chimney choir cigarette "
    "citation cite citizen civic civil claimant clan clarify clause clemency clerk click clinician "
    "clipboard closet clue coat codeine coffin coherent comma command commit communal compact "
    "companion compassion compel competent complain complainant comply compose compound compulsory "
    "con concede conceive concert conclude concur condemn condo condone confer confess confine "
    "confirm confiscate conflict conform conjugal conscience consent console conspiracy constable "
    "constitute construe consul contempt contend contravene convene convict cookie cop copyright "
    "corridor corroborate cottage cough couch counsel count counterclaim counterfeit courier "
    "courtroom cousin coward crash creditor crime criminal crypt culpable culprit cumbersome cursor "
    "custodial custody daddy damage dashboard daughter deaf dean debtor decease deceit decree deem "
    "defame default defect defend defendant defer deficient defraud degrade delegate delete "
    "deliberate democracy denote deny depart depict deport depose deposition deprive desert desk "
    "desktop despair detain detective detention deter detriment device diabetic diarrhea dictate "
    "dignity dining dire disability disc disciplinary discern disclose discretion discriminate "
    "dishonest dismiss dispense dispute dissent dizzy docket doctrine dog donkey doorbell dorm dose "
    "download draft drawer driveway driver drown drunk duplicate duress dwell dynasty eavesdrop "
    "edema edit elbow elder eldest elector eligible email emoji employ empower enact encrypt endorse "
    "enforce enquire entail entitle envelope equitable error escort espresso estate estop ethernet "
    "evict evidence evident examine execute exempt exhaust exhibit exile expel expert expunge "
    "extort extradite eyewitness facsimile faint fake false farewell father faucet felony fence "
    "fetch fever fiduciary filing finger fingerprint firearm firewall firm firmware fish flee flood "
    "fluent folder font foreclose foreman forfeit forfeiture forge forgery formal forthwith forum "
    "foster foundry fracture fraud freeze fridge frivolous fugitive fulfil furnace furniture furtive "
    "gallows gang garage garden gateway gavel gear ghost girl girlfriend glitch goat gown grandchild "
    "granddaughter grandfather grandmother grandson grave gravel grievance grocery guarantor guardian "
    "guest guilt gun habeas hacker hallway hammer handcuff handset handwriting hang harass hardship "
    "harm headache headphone headset hearing hearsay heart hectare heir helpdesk hereby herein "
    "hostage hostile hotfix hotspot housewife humid husband hygiene hypothesis icon idle ignorant "
    "illegal illicit imam immigrant immune impair impartial impeach impede imperial implicit "
    "imprison improper impugn inbox incapable incite incriminate incur indemnify indemnity indict "
    "induce infant infer infringe inhale inherit inject injunction injure inmate innocent inquest "
    "inquire inquiry insane insist insolvent inspect install instruct insurgent intercept interfere "
    "interim interlocutory intern interrogate intersect interval intervene invalid invoice invoke "
    "irrigation item jail jewel join joinder judge judicial juice jurist juror jury juvenile "
    "keyboard kidnap kill kitchen kneel knee knife label ladder lamp landlord laptop larceny laser "
    "laundry lawful lawn lawsuit lawyer leaflet lease lecture legacy legal legible legislate lesion "
    "lessee lessor letterhead liable libel liberty librarian library licence licensee lien linen "
    "lint litigant litigate liver locksmith login logout lottery lunch lung lustration magistrate "
    "mailbox malice malicious malware mandamus mandate manslaughter marble marital marry mason mayor "
    "meadow mediate medication memo mercy merit metadata midwife migrant mine minibus minister "
    "ministry mint miracle misconduct misdemeanor mistrial mitigate modem monarch monitor moot moral "
    "moreover mortgage mosque motel mother motion motive mouse municipal murder mustard mutiny "
    "nausea navy needle neglect negligence neighbor neighbour nephew nerve niece nightclub nod "
    "notary notwithstanding novel null nullity nun oath obey oblige obscene obstruct occupant "
    "offence offend offense offset omit oneself onus opine oral ordeal ordinance orphan oven "
    "overcrowd overrule overturn pamphlet panel panic pantry paragraph paralegal pardon parish "
    "parking parliament parole passenger passport passive password patent paternal patient patrol "
    "pauper payee pecuniary penal penalty pending penitentiary perjury perpetrator persecute "
    "petition petitioner pharmacist philosophy phone photocopy physician picnic pillow plaintiff plea "
    "plead plug plumber plural pocket poison police politician pollution pond portal portray "
    "possess postal postpone practise pray preamble precede precedent precinct preclude prejudice "
    "preliminary premise prerogative prescribe presumption pretext priest prince princess printer "
    "prior prisoner privacy privilege probable probate probation procedural proclaim procure "
    "prohibit prolong promulgate prompt proprietor proscribe prosecute prosecution prosecutor "
    "provision proxy psychiatric psychologist publish pulpit pulse punish punitive pupil purport "
    "pursuant quantum quash queen query quorum quote rabbi radar rape ratify ratio reboot rebut "
    "receipt recidivist reckless recording rectify recuse redact redeem refrigerator refuge refugee "
    "refund refute register registrar registry regret reinstall reinstate reiterate rejoin "
    "relative religion remand remedy remit render rent repeal replevin reply reprisal reputation "
    "requisite rescind reset reside respondent restart restitution restrain retrial reverse revoke "
    "rifle riot roadside robber robe rollback roof rooftop router ruling runway sabotage sailor "
    "salad salary sanction sandwich sapphire savings scar schema scissors scrap screenshot scribe "
    "script scroll sculpture seaside seat seizure self senate senator sentence separate sergeant "
    "servant server session settlement severe sewer sexual shame sheep shelter sheriff ship shirt "
    "shortcut shoulder shovel sibling sick signatory silence silent sinus siren sister skin slander "
    "sleeve sneeze soap soldier sole solemn solicitor son sorrow sovereign spam spectator speedy "
    "spine spoon spouse staircase stamp statute statutory steal stepfather stigma stipulate stomach "
    "strand stranger strap strangle stroke struggle stub sue suffice suit summon summons sunlight "
    "superintendent superior supervise supervisor suppress surgeon surname surrender surrogate "
    "surveillance survivor suspect suspicion sustain swear swollen sworn symptom syntax tablet tacit "
    "tailor tape tariff taxi tenant tentative testify testimony theft therein thereof thief thigh "
    "thorough threat throat throne thumb thunder ticket tissue toilet token tomb toolbar tooth "
    "torture tort tourist traffic trail trainee traitor transcript trauma treason treaty trespass "
    "trial tribe tribunal troubleshoot truck tumor tutor typo ulcer ultra umbrella unanimous uncle "
    "unconstitutional unfit unilateral uninstall unlawful unplug update upgrade uphold upload upset "
    "uproar urine user username usher vacate vague validity valve vandal vein vendor venue verdict "
    "verify versus veteran veto viable victim villa violate violent virus visa visitor void volcano "
    "voter voucher waist waiter waitress waive waiver ward warden warehouse warrant weapon webcam "
    "wedding weekday weep weird whereby whereupon whistle widget widow wife wifi will wing wireless "
    "witness woman women woodland workaround workspace worship wound wreck wrist writ wrong wrongful "
    "yard yearly yoga zip zone"
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
_LEXICON = Path(__file__).parent / "models" / "bundled" / "nes_rules" / "lexicon.json"


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    lists = json.loads(_LEXICON.read_text(encoding="utf-8"))
    jargon = (word for term in lists["jargon"] for word in words_of(term))
    return frozenset([*lists["common"], *map(fold, jargon)]) | _MORE | FUNCTION_WORDS | MONTHS


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
        return word.capitalize() in TITLES or low in ("jr", "sr", "ii", "iii", "iv", "de", "van")
    if low in LEGAL_FORMS or low in INSTITUTIONS or low in GEOGRAPHY or low in DEMONYMS:
        return True
    return category != "Location" and low in PLACES


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
    >>> distinctive_words("Bank of Mexico", "Organization"), distinctive_words("Dr. Ana Orr", "Person")
    ([], ['Ana', 'Orr'])
    """
    found: dict[str, None] = {}
    words = words_of(name)
    for word in words:
        if (
            is_generic(word, category)
            or is_ordinary(word, category)
            or fold(word) in (ordinary or ())
        ):
            continue
        if len(word) < 3 and len(words) > 1:
            continue
        found[word] = None
    return list(found)
