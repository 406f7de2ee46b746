"""URLs of annotation, collected from its features."""

from .adjudication import urls as adjudication
from .agreement import urls as agreement
from .assignments import urls as assignments
from .campaigns import urls as campaigns
from .exchange import urls as exchange
from .qualification import urls as qualification
from .review import urls as review
from .screening import urls as screening
from .workbench import urls as workbench

app_name = "annotation"
urlpatterns = [
    *workbench.urlpatterns,
    *campaigns.urlpatterns,
    *assignments.urlpatterns,
    *screening.urlpatterns,
    *adjudication.urlpatterns,
    *agreement.urlpatterns,
    *review.urlpatterns,
    *qualification.urlpatterns,
    *exchange.urlpatterns,
]
api_urlpatterns = [
    *workbench.api_urlpatterns,
    *campaigns.api_urlpatterns,
    *assignments.api_urlpatterns,
    *screening.api_urlpatterns,
    *adjudication.api_urlpatterns,
    *agreement.api_urlpatterns,
    *review.api_urlpatterns,
    *qualification.api_urlpatterns,
    *exchange.api_urlpatterns,
]
