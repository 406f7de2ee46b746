"""Dates, times, numbers and identifiers in texts of receipts, in several languages."""

from datetime import date, time, timedelta

import pytest
from babel.dates import format_date
from hijridate import Gregorian
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.receipts.facts import facts_of, same_facts
from tests.counting import LINEAR, growth
from tests.many import together


@together(
    "first second",
    [
        ("15-July-24", "15-Jul-24"),
        ("15-July-24", "15 July 2024"),
        ("06 Jul 2024", "6 july 2024"),
        ("06JUL24", "06 Jul 24"),
        ("July 6, 2024", "6 July 2024"),
        ("July 6th, 2024", "July 6 2024"),
        ("Sept. 5, 2024", "5 September 2024"),
        ("2024-07-06", "06 Jul 2024"),
        ("2024-07-06", "2024/7/6"),
        ("2024-Jul-06", "2024-07-06"),
        ("06.07.2024", "6.7.24"),
        ("02/03/24", "02-03-2024"),
        ("06/07/2024", "06 Jul 2024"),
        ("07/06/2024", "06 Jul 2024"),
        ("Jul 2024", "July 2024"),
        ("15/07", "15/7"),
        ("1er août 2024", "1 aout 2024"),
        ("12 de março de 2024", "12 março 2024"),
        ("15. Juli 2024", "15 Juli 2024"),
        ("3 enero 2024", "3 ene 2024"),
        ("17 Agustus 2024", "17 Agt 2024"),
        ("2024年7月6日", "2024-07-06"),
        ("2024년 7월 6일", "2024年7月6日"),
        ("6:55 PM", "18:55"),
        ("6:55 p.m.", "06:55pm"),
        ("10:15", "10:15 AM"),
        ("12:05 am", "00:05"),
        ("10h15", "10:15"),
        ("午後3:30", "15時30分"),
        ("3.30 pm", "15:30"),
        ("10:15:00", "10:15"),
        ("2024-07-06T10:15", "2024-07-06 10:15"),
        ("Room 1,200", "Room 1200"),
        ("Suite 12.50", "Suite 12,5"),
        ("7-Eleven", "Seven Eleven"),
        ("Terminal Two", "Terminal 2"),
        ("Inn CA294", "inn ca294"),
        ("Paris", "Parys"),
        ("", "France-Paris"),
        ("May Fair Hotel", "Mai Fair Hotel"),
        # Eras and calendars.
        ("令和6年5月1日", "2024-05-01"),
        ("令和元年5月1日", "2019年5月1日"),
        ("平成30年4月1日", "2018/4/1"),
        ("昭和64年1月7日", "1989年1月7日"),
        ("R6.5.1", "2024/5/1"),
        ("令6.5.1", "2024/5/1"),
        ("15 มิย 67", "15/06/2024"),
        ("15 Ramadan 1445 AH", "2024-03-25"),
        ("H30.4.1", "2018.4.1"),
        ("民國113年05月01日", "2024-05-01"),
        ("中華民國一百一十三年五月一日", "2024年5月1日"),
        ("113/05/01", "2024/05/01"),
        ("15 มิ.ย. 2567", "15 June 2024"),
        ("15 มิ.ย. 67", "15/06/2024"),
        ("15 มิถุนายน พ.ศ. 2567", "2024-06-15"),
        ("15/06/2567", "15/06/2024"),
        ("15 رمضان 1445", "2024-03-25"),
        ("15/9/1445 هـ", "25 March 2024"),
        # Numerals.
        ("二〇二四年四月二十日", "2024-04-20"),
        ("2024年四月廿日", "2024年4月20日"),
        ("١٥/٠٦/٢٠٢٤", "15/06/2024"),
        ("१५ जून २०२४", "15 June 2024"),
        # Weekdays.
        ("Sat, 15 June 2024", "15 June 2024"),
        ("Sat 15/06/2024", "Sun 15/06/2024"),
        ("2024年6月15日(土)", "2024年6月15日"),
        ("6월 15일 토요일", "6월 15일"),
        ("Mittwoch, 15. März 2024", "15 March 2024"),
        ("mar. 5 mar 2024", "5 March 2024"),
        ("15 haziran 2024 cumartesi", "15/06/2024"),
        # Other languages and forms.
        ("15 tháng 6 năm 2023", "15/06/2023"),
        ("15 июня 2024 г.", "15.06.2024"),
        ("15 června 2023", "15 červen 2023"),
        ("2024. gada 15. jūnijs", "2024-06-15"),
        ("25 ביוני 2024", "25/06/2024"),
        ("15. 6. 2024", "15.6.2024"),
        ("2024. 6. 15.", "2024-06-15"),
    ],
)
def test_texts_with_the_same_facts(first: str, second: str) -> None:
    assert same_facts(first, second)
    assert same_facts(second, first)


@together(
    "first second",
    [
        ("15-July-24", "16-July-24"),
        ("2024-07-06", "2024-07-05"),
        ("2024-07-06", "2023-07-06"),
        ("10:15", "10:45"),
        ("10:15", "11:15"),
        ("10:15 AM", "10:15 PM"),
        ("午前10:15", "午後10:15"),
        ("10:15:30", "10:15:31"),
        ("June 5, 2024", "July 5, 2024"),
        ("15 Juni 2024", "15 Juli 2024"),
        ("15 mars 2024", "15 mai 2024"),
        ("3 giugno 2024", "3 luglio 2024"),
        ("2024年7月6日", "2024年7月5日"),
        # Two dates in digits are compared in their order.
        ("02/03/24", "03/02/24"),
        ("02/03/2024", "03/02/2024"),
        ("15/07", "16/07"),
        ("06/07/2024", "08 Jul 2024"),
        ("5 May 2024", "5 May"),
        ("Mar 2024", "May 2024"),
        ("Room 164", "Room 165"),
        ("Room 164", "Room"),
        ("Room 07", "Room 7"),
        ("Gates 3 and 5", "Gates 5 and 3"),
        ("Suite 12.50", "Suite 1250"),
        ("Terminal One", "Terminal Two"),
        ("Inn CA294", "Inn CA295"),
        ("Inn CA294", "Inn 294"),
        ("1st Street", "2nd Street"),
        ("50 325 560 455", "50 325 560 456"),
        ("6222021234567893445", "6222021234567893446"),
        ("0306202450122", "306202450122"),
        ("(760) 446-2551", "(760) 446-2557"),
        ("平成30年4月1日", "2030年4月1日"),
        ("令和元年5月1日", "平成元年5月1日"),
        ("R5.10.12", "H5.10.12"),
        ("民國113年05月01日", "民國103年05月01日"),
        ("2024年四月二十日", "2024年四月二十一日"),
        ("二〇二四年四月二十日", "二〇二三年四月二十日"),
        ("15 červen 2023", "15 červenec 2023"),
        ("15 มิ.ย. 2567", "15 มี.ค. 2567"),
        ("15 tháng 6", "15 tháng 7"),
        ("15 رمضان 1445", "16 رمضان 1445"),
        ("15 يونيو 2024", "15 يوليو 2024"),
        ("午前10時", "午後10時"),
    ],
)
def test_texts_with_other_facts(first: str, second: str) -> None:
    assert not same_facts(first, second)
    assert not same_facts(second, first)


FORMATS = ("%d %b %Y", "%B %d, %Y", "%Y-%m-%d", "%d%b%y", "%d/%m/%Y", "%Y年%m月%d日")
DATES = st.dates(date(1970, 1, 1), date(2068, 12, 31))


@given(DATES, st.sampled_from(FORMATS), st.sampled_from(FORMATS))
def test_a_date_is_the_same_in_every_format(day: date, one: str, other: str) -> None:
    assert same_facts(f"Arrival {day.strftime(one)}", f"arrival: {day.strftime(other)}")


@given(DATES, DATES, st.sampled_from(FORMATS))
def test_other_dates_are_other_facts(one: date, other: date, form: str) -> None:
    assert same_facts(one.strftime(form), other.strftime(form)) == (one == other)


# Languages of receipts whose short names of months are read, too.
LANGUAGES = tuple(
    "ar bg cs da de el en es et fi fr gu he hi hr hu hy id it ja ka kk km ko lt lv mk ml nb nl pl "
    "pt ro ru sk sl sr sv sw ta te tr uk ur vi zh".split()
)


@given(DATES, st.sampled_from(LANGUAGES), st.sampled_from(["medium", "long", "full"]))
def test_a_date_is_the_same_in_every_language(day: date, language: str, form: str) -> None:
    assert same_facts(format_date(day, form, language), day.isoformat())


@given(DATES.filter(lambda day: day.year >= 1990))
def test_a_date_is_the_same_in_every_calendar(day: date) -> None:
    era, first = ("令和", 2019) if day >= date(2019, 5, 1) else ("平成", 1989)
    islamic = Gregorian.fromdate(day).to_hijri()
    texts = [
        f"{era}{day.year - first + 1}年{day.month}月{day.day}日",
        f"民國{day.year - 1911}年{day.month}月{day.day}日",
        f"{day.day}/{day.month}/{day.year + 543}",
        f"{islamic.year}/{islamic.month}/{islamic.day} هـ",
    ]
    for text in texts:
        assert same_facts(text, day.isoformat())
        assert not same_facts(text, (day + timedelta(days=1)).isoformat())


@given(st.times(), st.times())
def test_times_with_and_without_halves_of_the_day(one: time, other: time) -> None:
    equal = (one.hour, one.minute) == (other.hour, other.minute)
    assert same_facts(one.strftime("%H:%M"), other.strftime("%I:%M %p")) == equal


@given(st.text() | st.text("0123456789/-.:, julyamp年月", max_size=30))
def test_any_text_has_the_same_facts_as_itself(text: str) -> None:
    assert same_facts(text, text)
    assert same_facts(text, f" {text}\n")


@pytest.mark.parametrize(
    "part", ["5 ", "1/2/", "july ", "1" * 40, "x", "12:", "a1-", "令和", "sun 5 ", "ก.", "一二"]
)
def test_the_work_grows_with_the_text(part: str) -> None:
    assert growth(lambda size: facts_of(part * size), 1_000) <= LINEAR
