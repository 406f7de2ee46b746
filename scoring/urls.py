"""URLs of scoring: those of its features, in the order in which they match."""

from .boards import urls as boards
from .grading import urls as grading
from .judging import urls as judging
from .leaderboard import urls as leaderboard
from .reliability import urls as reliability
from .reported import urls as reported
from .results import urls as results
from .running import urls as running
from .submissions import urls as submissions

app_name = "scoring"
urlpatterns = [
    *boards.urlpatterns,
    *leaderboard.urlpatterns,
    *results.urlpatterns,
    *grading.urlpatterns,
    *reliability.urlpatterns,
    *judging.urlpatterns,
    *submissions.urlpatterns,
    *reported.urlpatterns,
    *running.urlpatterns,
]
api_urlpatterns = [
    *boards.api_urlpatterns,
    *leaderboard.api_urlpatterns,
    *results.api_urlpatterns,
    *grading.api_urlpatterns,
    *reliability.api_urlpatterns,
    *judging.api_urlpatterns,
    *submissions.api_urlpatterns,
    *reported.api_urlpatterns,
    *running.api_urlpatterns,
]
