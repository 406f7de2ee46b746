"""A handler that works for a while and records every item of its chunk."""

import os
import time

from portal.jobs.handlers import Claim, handler
from tests.jobs.probe.models import ProbeItem


@handler("probe")
def record_items(claim: Claim) -> None:
    items: list[int] = claim.payload["items"]
    for done, _ in enumerate(items, start=1):
        time.sleep(claim.payload["seconds"] / len(items))
        claim.progress(done, len(items))
    with claim.finish():
        for item in items:  # one by one: a kill may strike between two of them
            ProbeItem.objects.create(
                item=item, job_id=claim.job_id, attempt=claim.attempt, pid=os.getpid()
            )
