"""Endpoints of a dataset's tasks, for organisers."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import get_dataset, get_task
from portal.datasets.models import DatasetTask
from portal.datasets.services.dataset_tasks import cancel_task, start_task

from .base import actor_of
from .task_serializers import TaskDetailSerializer, TaskSerializer, TaskStartSerializer


class TaskList(GenericAPIView[DatasetTask]):
    """The tasks of a dataset, newest first.

    A second task of a kind that is under way is not started: the answer is the one there is.
    """

    queryset = DatasetTask.objects.none()
    serializer_class = TaskSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=TaskSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        tasks = get_dataset(request.user, slug).tasks.defer("report")
        page = self.paginate_queryset(tasks)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(request=TaskStartSerializer, responses={202: TaskDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = TaskStartSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        task = start_task(dataset=dataset, **wanted.validated_data, actor=actor_of(request))
        return Response(TaskDetailSerializer(task).data, status.HTTP_202_ACCEPTED)


class TaskDetail(APIView):
    """How far a task is, and its report once it has ended."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=TaskDetailSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(TaskDetailSerializer(get_task(slug, pk)).data)


class TaskCancel(APIView):
    """Stops a task; what it has done stays. One that has ended stays as it is."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses=TaskDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        task = get_task(slug, pk)
        if not task.is_finished:
            cancel_task(task=task, actor=actor_of(request))
        return Response(TaskDetailSerializer(get_task(slug, pk)).data)
