"""Word lists of the identifier rules: common words, company descriptors, nicknames.

Small on purpose: they only decide which names need a capital letter or more to be taken for a name.
"""

from __future__ import annotations

import re

from nes_spark.text.sentences import word_set

#: Lower-case parts of names of people.
PARTICLES = word_set("de da di do dos das del della den der van von zu la le al el bin ibn y e")
#: Ordinary words that are also names of companies or people. A name that is one of them is only
#: matched with a capital letter.
COMMON_WORDS = word_set(
    "a able about above academy access account action active adult advance advanced agenda "
    "agree air alarm all alliance allied ally alone also amber american analog anchor and angel "
    "angle annual apex apple applied arch archer arm arrow art as ascent ash asia aspect aspen "
    "asset assured at atlantic atlas august aurora auto avenue avid axis b back baker balance "
    "ball banc bank bar barber bark barn baron base basic bath bay beacon bear beauty bed bell "
    "best beyond big bill birch bird bishop black blade bloom blue board boat bold bolt bond "
    "book boot booth boston box brand brave bread bridge bright british broad brook brown brush "
    "buckle bud build builder building burns bush business butler button buy cable call camel "
    "camp can canada cap capital capitol car caravan card cardinal care carnival carpenter "
    "carter case cash castle cave center central century chain chairman challenge champion "
    "chance change channel chapel charity charles charm charter chase chemical chief china chip "
    "choice christian church circle citizen citizens city civil clark class clay clean clear "
    "clearing cliff clinic clock close cloud clover coach coal coast cobalt code coffee cold "
    "cole college colonial color colour comfort command commerce commercial common community "
    "compass complete computer concrete constant consumer contact container content continental "
    "control convoy cook cool cooper copper core corner corporate corporation cost cotton "
    "council count country court cover craft crane create creative credit crest cross crown "
    "crystal cube culture cup current cut cyber cycle dairy daily dale dash data date dawn day "
    "dean dear debt deck deep deer delta denim denny design desk destination diamond digital "
    "direct discover discovery dish diverse dixie dock doctor dollar domain dominion door "
    "double dove dover down dr dragon dream drew drive drop duke dynamic dynamics each eagle "
    "early earth ease east eastern easy ebb echo eclipse edge edison education eight elastic "
    "electric electronic element elephant eleven elite elm embark emerald emerge empire empower "
    "encore end endeavor energy engage enhance enough enterprise entertain entertainment entry "
    "equal equity era essential estate eternal ethos europe even event ever evergreen every "
    "evolution evolve excel exact exchange expedition express extra eye fabric face fair faith "
    "falcon family farm farmer fashion fast fate father federal fern few fiber field fifth fig "
    "final finance financial fine finish fir fire first fish fisher fit five fix flag flame "
    "flash fleet flex flight float floor flow flower flux focus food foot ford forest forge "
    "fork form forte fortress fortune forum forward fossil foster foundation four fox frame "
    "frank franklin free freedom fresh friday friend frontier frost fuel full fund fuse fusion "
    "future gain galaxy gallery game gap garden gate gateway gear gem general genesis genius "
    "genuine german giant gift glacier glass global globe glory go goal gold golden good goods "
    "grace grain grand grant graph gray great green greene grey grid grove growth guard guess "
    "guide gulf guy habit half hall halo hamilton hammer hand harbor hard hardy harmony harp "
    "harvest haven hawk hay health healthcare heart heath heavy help heritage hero high "
    "highland hill hills his hobby hold holiday holly home homes honest hope horizon horn host "
    "hotel hour house household hub hudson human humble hunt hunter hut i ice icon idea ideal "
    "illumination image impact imperial in independence independent index india indigo "
    "industrial infinity influence info inn innovative insight inspire instant insurance intact "
    "integral integrated intelligent inter interactive interface international interstate into "
    "invest investor invitation iron island it ivory jack jade jay jet jewel job joint journey "
    "joy joyce july june junior jupiter just justice key keys kind king kingdom kings knight "
    "knot knowledge lab labor lake lamb lance land landmark lane lark laser last laurel law "
    "lead leader league lean leap legacy legend lemon lemonade lend less level liberty life "
    "lift light lighthouse lime limited line lines link lion liquid list little live living "
    "loan local lock lodge logic long loop lord lotus love low loyal lucid luck lucky luna "
    "lunar lush machine main major mall man manager march marine mark market markets marriage "
    "marsh martin mason mass master match material matrix matter mature max maximum may me mean "
    "media medical medicine meet mercury mercy merit message metal meter method metro micro "
    "middle midland mile mill miller million mind mine mint miracle mirror mission mobile model "
    "modern molecular moment monday money monitor monster moon more morning most motion motor "
    "mountain move mr mrs ms much music mutual my national native natural nature navigator near "
    "neighbor neo net network new news next nice night nine no noble north northern northwest "
    "now nutrient oak oaks object ocean october odyssey of off office oil old olive olympic "
    "omega omni on one online only open opportunity optimal option orange orbit orchard order "
    "organic origin original orion our out outdoor outlook oval over own owl oxford pacific "
    "pack packaging page paint palace palm palmer panther paper parade paradise park parker "
    "parks partner partners party pass passage patch path patience patriot pay payment peace "
    "peak pearl pegasus pen people pepper percent perfect performance permanent person phoenix "
    "photo pick piece pier pilgrim pilgrims pilot pine pinnacle pioneer pipe place plan planet "
    "plant platform play player plaza please plus pocket point polar polaris pole pond pool "
    "pope popular port portal porter portfolio post potter power practice prairie premier "
    "premium press prestige price pride prime primo prince principal print priority private pro "
    "produce product professional profile profit progress progressive project promise proof "
    "property prophet prospect prosper proud provident province public pulse pure purple "
    "purpose quality quantum quarter quest question quick quiet race rack radiant radio rail "
    "rain rainbow ranch range ranger rapid rare rate raven ray raymond reach ready real realty "
    "reason rebel record red reed reef reflection regal regency region regional regions "
    "reliance reliant remark republic rescue reserve resource resources respect response rest "
    "result results retail rev review revolution revolve rice rich right ring rise rite river "
    "road robin rock rocket rocky roller roman roof room root rose ross round route royal ruby "
    "run rush russian sabre safe safety sage sail saint sales salmon salt same sand sapphire "
    "save saw say scale scholar school science scope scorpion scout sea seal sealed search "
    "season second secure security see seed select self senior sense sensor sentinel september "
    "sequence series service services seven shade shake shape share sharp she shell shepherd "
    "shield shift ship shoe shop shore short show side sierra sight sign signal signature "
    "silent silver simple simply single six sky slack slate sleep smart smith smooth snap snow "
    "so social sofa soft solar solid solution solutions sonic sound source south southern "
    "southwest space spark special spectrum speed sphere spirit splash split spoke spot spring "
    "sprint sprout sprouts square stable staff stage standard star stars start state states "
    "station steel stem step sterling steward still stock stone store storm story strategic "
    "stream street stride strong structure strut student studio style success summer summit sun "
    "sunday sunny sunrise super superior support supreme sure surface surge surgery survey "
    "swift sync synergy system systems table tandem tango tank tap target team tech technology "
    "telephone temple tempo ten term terra territory thank the theory there thermo think third "
    "three thrive thunder tide tiger tile timber time tip titan title to today together "
    "tomorrow tool top total touch tour towel tower town track tractor trade trading tradition "
    "trail transit travel travelers traveler treasure tree trek trend tri triangle tribune "
    "trinity trip triple triumph true truly trump trust truth turn turner twin twist two ultra "
    "under union unique unit united unity universal universe up upper urban us vale valid "
    "valley value vanguard vector velocity venture venus verb vertex vertical very vest via "
    "victory view viking villa village vine vintage virgin virtual virtue visa vision vista "
    "vital voice volume voyage wagon walk walker wall war ward warm warren wash waste watch "
    "water waters wave way we wealth weather web week welcome well wells west western whale "
    "wheel whirlpool white whole wide wild will willow win wind window wine wing winner winter "
    "wire wise wish wolf wonder wood woods word work workday works world worth worthy x yellow "
    "yes yet yield york you young your zebra zenith zero zest zone zoom"
)

#: Words that start sentences without being a name; a name that is one of them is not matched there.
SENTENCE_WORDS = word_set(
    "all also and any as at best both but by can do early each even ever every few first for "
    "free from full general go good great half how i if in it just last late less let like long "
    "look low may more most much my near new next no now of off on once one only open our out "
    "over please recent right same second see short since so some soon still such sure take "
    "thank then there third this to today total true turn two under until up us very way we "
    "well what when while why will with yes yet you your march june august"
)

#: Words that a sentence begins with and that are no part of a name.
FUNCTION_WORDS = word_set(
    "i we you he she they it the a an and but so or if our your his her their its my this that "
    "these those thanks thank good hello hi hey yes no okay ok well now then as in on at for from "
    "to with what when where who how why please let turning moving before after over today do did "
    "is are was were can could would will should may might uh um congratulations great mr ms mrs dr"
)

#: What companies put behind their own name; the name is also used without it.
DESCRIPTORS = word_set(
    "advisors aerospace agency air airlines airways america apparel applied aviation bancorp "
    "bancshares bank bankshares beauty beverages biologics biopharma biosciences biotech "
    "biotechnology brands broadcasting brothers building capital care cement chemical chemicals "
    "clinical communications company companies components consulting consumer corp corporation "
    "credit data dental devices diagnostics digital education electric electronics energy "
    "engineering enterprises entertainment equipment estate europe exploration fashion finance "
    "financial foods gas genetics global gold group groups health healthcare holding holdings "
    "homes hospitality hotels imaging inc industrial industries infrastructure innovations "
    "instruments insurance interactive international investment investments labs laboratories "
    "lines logistics ltd management manufacturing marine materials media medical medicines "
    "metals midstream mining mobile motor motors mutual networks offshore oil operations "
    "organization outdoors packaging paper partners payments petroleum pharma pharmaceutical "
    "pharmaceuticals plc power products properties property proppants railway realty reit "
    "renewables research resorts resources restaurants retail robotics savings sciences "
    "scientific securities semiconductor semiconductors services shipping software solar "
    "solutions steel stores studios supply surgical sustainable systems tech technologies "
    "technology telecom telecommunications therapeutics tools toys transport transportation "
    "travel trust trusts united usa utilities vehicles ventures water wireless worldwide xray "
    "x-ray aktiengesellschaft kabushiki kaisha sociedad anonima"
)

#: Words for what belongs to a country or a people.
DEMONYMS = word_set(
    "african american arab arabian argentine asian australian austrian belgian brazilian british "
    "bulgarian canadian caribbean chilean chinese colombian croatian cuban czech danish dutch "
    "egyptian english estonian european finnish french german greek hungarian icelandic indian "
    "indonesian iranian iraqi irish israeli italian japanese kenyan korean latin latvian "
    "lithuanian malaysian mexican moroccan nigerian nordic norwegian pakistani peruvian polish "
    "portuguese romanian russian scottish serbian singaporean slovak slovenian spanish swedish "
    "swiss taiwanese texan thai turkish ukrainian vietnamese welsh"
)

#: What companies put before their own name.
LEADING_DESCRIPTORS = word_set(
    "the banco banca banque bank grupo groupe gruppo group cementos compania companhia cia pt "
    "ab ao oao pao pjsc ojsc sociedad societe soc empresa empresas corporacion instituto "
    "koninklijke"
)

#: Measures of earnings, of which everybody makes, or mishears, their own ("EBITAX", "EBTIDA").
EARNINGS = re.compile(r"EB(?=[ITDA]*[ID])[ITDA]{2,5}[A-Z]{0,2}s?")
#: The call itself, as its first sentences call it.
THE_CALL = re.compile(
    r"(?:(?:Annual|Business|Conference|Corporate|Earnings|Financial|First|Fourth|Full|Half|Interim"
    r"|Investors?|Quarter|Quarterly|Results|Second|Third|Update|Year|Year-End|Q[1-4]|20\d\d) )+"
    r"(?:Call|Conference|Presentation|Teleconference|Webcast)"
)

#: Short words in capitals that are not a company's ticker or initials.
ACRONYMS = word_set(
    "AI AM API AR ARR ASC ASP AUM B2B BPS CAGR CAPEX CEO CFO CIO CMO COO CTO CSR CRM DC DIY DNA "
    "DSO EBIT EBITDA EMEA EPA EPS ERP ESG ESOP ETF EU EUR EV EVP FAQ FDA FDIC FFO FX FY GAAP "
    "GBP GDP GHG GMV GPU HQ HR ICU IFRS II III INC IOT IP IPO IR IRR ISO IT IV JV KPI LLC LNG "
    "LTD LTV LOI MBS MD ML MOU MRI NA NASDAQ NAV NIM NOI NOL NYSE OEM OK ON OPEC OPEX OR OTC PC "
    "PHD PLC PM PP PPE PPP PR PT PV Q1 Q2 Q3 Q4 QA QOQ RD REIT RFP ROA ROE ROI ROIC RV SA SAAS SEC "
    "SG SGA SKU SMB SME SMS SPAC SVP TAM TSR TV UK UN US USA USD USDA VAT VC VIE VIP VOD VP VR "
    "WACC YOY YTD"
)

#: What people are called by at their work, before a last name: "Driver Roe", "Chief Engineer Roe".
RANKS = word_set(
    "bosun captain conductor constable corporal coxswain driver engineer ganger inspector "
    "lieutenant midwife paramedic sergeant signaller signalman skipper technician"
)

#: Groups of first names that stand for each other.
NICKNAMES: dict[str, frozenset[str]] = {}
for _group in (
    "abigail abby abbe",
    "albert al bert",
    "alexander alexandra alex sandy",
    "alexis alex",
    "alfred al fred",
    "allison alison ally ali",
    "amanda mandy",
    "andrew andy drew",
    "anthony tony",
    "arthur art",
    "barbara barb",
    "benjamin ben benny",
    "bernard bernie",
    "bradley brad",
    "brandon brendan brendon",
    "catherine katherine kathryn cathy kathy kate katie",
    "charles charlie chuck",
    "christina christine chris tina",
    "christopher chris",
    "daniel dan danny",
    "david dave",
    "deborah debbie deb",
    "dennis denny",
    "donald don donnie",
    "douglas doug",
    "edward ed eddie ted",
    "elizabeth liz beth betsy betty",
    "eugene gene",
    "francis frank fran",
    "frederick fred",
    "geoffrey jeffrey geoff jeff",
    "gerald jerry gerry",
    "gregory greg",
    "harold hal harry",
    "henry hank harry",
    "jacob jake",
    "james jim jimmy jamie",
    "jennifer jen jenny",
    "jessica jess",
    "john jack johnny jon",
    "jonathan jon",
    "joseph joe joey",
    "joshua josh",
    "judith judy",
    "kenneth ken kenny",
    "kimberly kim",
    "lawrence larry",
    "leonard len leonard lenny",
    "leslie les",
    "margaret maggie peggy meg",
    "matthew matt",
    "michael mike mick micheal",
    "mitchell mitch",
    "nathaniel nathan nate",
    "nicholas nick",
    "pamela pam",
    "patricia pat patty trish",
    "patrick pat",
    "peter pete",
    "philip phillip phil",
    "raymond ray",
    "rebecca becky",
    "richard rich rick dick richie",
    "robert rob bob bobby robbie",
    "rodney rod",
    "ronald ron ronnie",
    "russell russ",
    "samuel samantha sam",
    "sandra sandy",
    "scott scotty",
    "sidney sid",
    "stanley stan",
    "stephanie steph",
    "stephen steven steve",
    "susan suzanne sue suzy",
    "terrence terence terry",
    "theodore ted theo",
    "thomas tom tommy",
    "timothy tim",
    "todd tod",
    "victoria vicky",
    "vincent vince",
    "walter walt",
    "william bill will billy",
    "zachary zach",
    "randall randolph randy",
    "benoit ben",
    "maximilian max",
    "joe joc jock",
    "phyllis phil",
    "charlotte charlie",
    "shelly michelle michele",
    "jorge jorg",
):
    _names = frozenset(_group.split())
    for _name in _names:
        NICKNAMES[_name] = NICKNAMES.get(_name, frozenset()) | _names

#: Exchanges at which shares are listed, as a ticker stands behind them.
MARKETS = ("NYSE", "NASDAQ", "Nasdaq", "AMEX", "LSE", "TSX", "ASX", "OTCQX")
