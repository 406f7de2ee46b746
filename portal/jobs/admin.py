"""The queue in the admin: read only, except that failed jobs can be retried."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from portal.jobs.models import Job, JobEvent
from portal.jobs.services import try_again
from portal.web.admin import ReadOnlyAdmin


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["id", "kind", "group", "state", "attempts", "progress_done", "progress_total"]
    list_display += ["error", "not_before", "started_at", "finished_at"]
    list_filter = ["state", "kind"]
    search_fields = ["group", "error"]
    actions = ["try_failed_again"]
    show_full_result_count = False

    @admin.action(description="Retry failed jobs", permissions=["try_again"])
    def try_failed_again(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        actor = request.user if request.user.is_authenticated else None
        count = sum(try_again(job=job, actor=actor) for job in jobs)
        self.message_user(request, f"Jobs queued again: {count}", messages.SUCCESS)

    def has_try_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_job")


@admin.register(JobEvent)
class JobEventAdmin(ReadOnlyAdmin):
    """The full stage log, including workers and errors."""

    list_display = ["at", "what", "group", "kind", "job_id", "count", "attempt", "worker"]
    list_display += ["error", "next_at"]
    list_filter = ["what", "kind"]
    search_fields = ["group", "worker", "error"]
    show_full_result_count = False
