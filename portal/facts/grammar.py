"""How filings write numbers, dates and durations, as regular expressions in verbose form.

They match text in which CELL marks stand at the borders of blocks and table cells.
"""

from portal.facts.borders import CELL
from portal.facts.words import MONTH, NUMBER_WORDS, ORDINAL_WORD

# Inside a character class: dashes that stand for a minus, and marks of currencies.
MINUS = "\\-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
CURRENCY = "$€£¥₹₩₽₣₺¢"
VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"

_SPACE = "[ \\xa0]"
_GAP = rf"[\s{CELL}]*+"
_ALONE = rf"(?=\s*+{CELL})"

# --- numbers ---

_FRACTION = r"[0-9]{1,3}[/\u2044][0-9]{1,3}(?![0-9/\u2044])"
_GROUPED = r"""(?:
    [0-9]{1,3}(?:,[0-9]{3})++(?:\.[0-9]++)?            # 1,234,567.89
  | [0-9]{1,2}(?:,[0-9]{2}){1,9},[0-9]{3}(?:\.[0-9]++)?   # 12,34,567
  | [0-9]{1,3}(?:\.[0-9]{3})++,[0-9]++                 # 1.234,56
  | [0-9]{1,3}(?:\.[0-9]{3}){2,}+                      # 1.234.567
  | [0-9]{1,3}(?:[\u2009\u202f'’][0-9]{3})++(?:[.,][0-9]++)?
)(?![0-9]|,[0-9])"""
_FIGURES = rf"""(?:
    [0-9]{{1,4}}(?:[ \xa0-]{_FRACTION}|[{VULGAR}]) | {_FRACTION} | [{VULGAR}]
  | {_GROUPED} | [0-9]++(?:\.[0-9]++)? | (?<!\.)\.[0-9]++
)"""
_MONEY = rf"(?:[{CURRENCY}]\s?)?"
# A percent sign or closing parenthesis may stand by itself in the next cell.
_PERCENT = rf"(?:{_SPACE}?%|{_GAP}%{_ALONE})"
_CLOSING = rf"(?:\s*+\)(?:{_PERCENT})?|{_GAP}\)(?:\s?%)?{_ALONE})"
_TRAILING = rf"(?:[{MINUS}](?=\s*+{CELL}|\s{{2}})|{_SPACE}?CR(?![A-Za-z0-9]))"
# 1.5x, 25bps, $10M; other letters make a name of it: 3rd, 10K405, 529A.
_ENDS = r"(?=(?:x|bn|mn|mm|bps?|pp|CR|[KMBkmb])?(?![^\W_]))"
NUMBER = rf"""(?:
    \(\s?[{MINUS}]?{_MONEY}(?!(?:19|20)[0-9]{{2}}\)){_FIGURES}{_PERCENT}?{_CLOSING}
  | (?:(?<![)%.,{MINUS}])[{MINUS}+]{_MONEY})?+(?<![/.,][0-9])(?<![A-Z]-){_FIGURES}{_ENDS}
    (?:{_PERCENT}|{_TRAILING})?
)"""

# --- dates and durations ---

_YEAR = "(?:19|20)[0-9]{2}(?![0-9])"
_SHORT_YEAR = rf"(?:{_YEAR}|['’]?[0-9]{{2}}(?![0-9%]|[.,][0-9]))"
_DAY = "[0-9]{1,2}(?:st|nd|rd|th)?(?![0-9A-Za-z])"
_NOT_MORE = r"(?![^\W_]|[.,]?[0-9]|%)"
_FISCAL = r"(?:(?:the\s+)?(?:fiscal|calendar)\s+)?(?:year\s+)?"
_UNIT = r"(?:day|week|month|quarter|year)s?(?![A-Za-z])"
_KIND = r"(?:(?:calendar|business|trading|consecutive|full|fiscal)\s+)?"
_COUNTED = rf"(?:\s*\(\s*[0-9]{{1,3}}\s*\))?[\s\u2010\u2011-]+{_KIND}(?i:{_UNIT})"

WORDED_DATE = rf"""(?:
    (?:{MONTH})\s+{_DAY}(?:,\s*|\s+){_YEAR}
  | (?:{MONTH}),?\s+{_YEAR}
  | (?:{MONTH})\s+{_DAY}{_NOT_MORE}
  | (?:FY\s?)?(?:Q[1-4]|H[12])[\s-]*(?:FY\s?)?{_SHORT_YEAR}
  | (?i:{ORDINAL_WORD})[\s-]+(?i:quarter)(?:\s+of)?\s+{_FISCAL}{_YEAR}
  | (?:(?i:fiscal|calendar)(?:\s+(?i:year))?\s+{_YEAR}|FY\s?{_SHORT_YEAR})
  | (?i:{NUMBER_WORDS}){_COUNTED}
)"""
FIGURED_DATE = rf"""(?:
    {_YEAR}[-/.][01]?[0-9][-/.][0-3]?[0-9](?![0-9])
  | [0-3]?[0-9]/[0-3]?[0-9]/(?:{_YEAR}|[0-9]{{2}}(?![0-9/]))
  | [0-3]?[0-9](?:-[0-3]?[0-9]-|\.[0-3]?[0-9]\.){_YEAR}
  | [01]?[0-9]/{_YEAR}
  | {_DAY}(?:\s+day\s+of)?(?:\s+(?:{MONTH}),?\s+{_YEAR}|-(?:{MONTH})-{_SHORT_YEAR})
  | {_DAY}\s+(?:{MONTH})(?!\s*[0-9])
  | (?:[1-4]Q|[12]H)[\s-]*(?:FY\s?)?{_SHORT_YEAR}
  | {_YEAR}\s?Q[1-4](?![0-9A-Za-z])
  | [0-9]{{1,3}}(?:\.[0-9]{{1,2}})?{_COUNTED}
  | (?<![{CURRENCY}])(?<![{CURRENCY}][\s{CELL}]){_YEAR}{_NOT_MORE}
)"""

# --- what looks like a number and is none ---

STATES = (
    "A[KLRZ] C[AOT] D[CE] FL GA HI I[ADLN] K[SY] LA M[ADEINOST] N[CDEHJMVY] O[HKR] P[AR] RI "
    "S[CD] T[NX] UT V[AT] W[AIVY]"
).replace(" ", "|")
_REFERRING = (
    "Items? Sections? Sec\\. Notes? Exhibits? Rules? Forms? Pages? Schedules? Articles? Parts? "
    "Regulations? Release Topic Chapter Lines? Table Figure Footnotes? Clauses? Paragraphs? "
    "Instrs?\\. Subtopic ASC ASU SFAS FAS IFRS IAS Nos?\\. §§?"
).replace(" ", "|")
_REFERENCE = r"[0-9]++(?:[.-][0-9A-Za-z]++)*+[A-Za-z]?(?:\([0-9A-Za-z]{1,5}\))*+"
_NO_AMOUNT = "(?![^\\W_]|[.,]?[0-9]|%)"
POSTAL_CODE = r"[0-9]{5}(?:-[0-9]{4})?(?![0-9%]|[.,][0-9])"
PHONE = r"(?:\([0-9]{3}\)\s?|[0-9]{3}[\s.-])[0-9]{3}[.-][0-9]{4}(?![0-9])"
WORDED_OTHER = rf"""(?:
    (?i:{_REFERRING})\s*(?i:nos?\.\s*)?(?!{_YEAR}){_REFERENCE}{_NO_AMOUNT}
    (?:(?:,|\s?[{MINUS}]|\s(?:and|or|to|through))\s?[0-9]{{1,2}}[a-z]?{_NO_AMOUNT}){{0,9}}
  | (?:{STATES})\.?,?\s+{POSTAL_CODE}
)"""
FIGURED_OTHER = rf"""(?:
    {PHONE}
  | [0-9]{{5}}-[0-9]{{4}}(?![0-9]) | [0-9]{{2}}-[0-9]{{7}}(?![0-9])
  | [0-9]{{1,3}}-[0-9]{{5,}} | 0[0-9]++-[0-9]++ | [0-9]++-0[0-9]++ | [0-9]++(?:-[0-9]++){{2,}}
  | [0-9]{{1,2}}(?::[0-9]{{2}})++
  | (?![0-9]{{1,3}}(?:\.[0-9]{{3}}){{2,}}(?![0-9.]))[0-9]++(?:\.[0-9]++){{2,}}
  | [0-9]{{1,4}}[A-Za-z]?(?:\([A-Za-z]{{1,4}}\))(?:\([0-9A-Za-z]{{1,5}}\))*+
  | [0-9]{{1,2}}-[A-Z](?![a-z])
  | [0-9]{{10,}}+(?![.,][0-9]) | (?!{_GROUPED})[0-9]++(?:,[0-9]++)++
)"""
# The number of a list item, and that of a page between dashes.
LINE_NUMBER = rf"""{CELL}\s*+(?:
    \(?[0-9]{{1,2}}[.)]\s++(?=[A-Z“"])
  | [{MINUS}]\s?[0-9]{{1,4}}\s?[{MINUS}]{_ALONE}
)"""
