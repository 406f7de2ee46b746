"""The official table of FCMBench, with its columns for the full test set and the subset."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.accounts.models import User
from scoring.leaderboard.selectors import leaderboard
from scoring.models import Board
from scoring.reported.services import load_rows
from scoring.reported.tables import check_table

pytestmark = pytest.mark.django_db

HEADS = "name,organisation,size,released_on,source,overall,overall_subset,DTR,KIE,IQE,CC,VC,NC,RR"


def test_its_rows_are_a_table_with_full_and_subset(organiser: User) -> None:
    board = Board.objects.create(slug="credit", title="Credit", benchmark="fcmbench")
    lines = [
        f"Model {number},Lab,{number}B,2025-12-01,Official leaderboard,"
        f"{70 - number},{68 - number},90,40,50,70,80,50,60"
        for number in range(24)
    ]
    file = SimpleUploadedFile("official.csv", "\n".join([HEADS, *lines]).encode())
    checked = check_table(board, file, "official.csv")
    assert checked.faults == ()
    load_rows(board=board, rows=checked.rows, actor=organiser)
    [section] = leaderboard(board, None, view="official").sections
    assert len(section.rows) == 24
    first = next(row for row in section.rows if row.entry.name == "Model 0")
    assert [cell.text for cell in first.cells if cell.text != "–"][:2] == ["70.00", "68.00"]
    assert leaderboard(board, None).sections == ()
