"""All tables of this app.

Constraints and indexes are options of their model: SQLite remakes a table for each one added later.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=60)),
                ('payload', models.JSONField(default=dict, help_text='Primary keys and plain options only.')),
                ('group', models.CharField(blank=True, help_text='Jobs watched together.', max_length=80)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                ('lease_token', models.CharField(blank=True, max_length=32)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('max_attempts', models.PositiveIntegerField(default=3)),
                ('not_before', models.DateTimeField()),
                ('cancel_requested', models.BooleanField(default=False)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('worker', models.CharField(blank=True, help_text='Who has or had it last.', max_length=80)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['state', 'not_before', 'id'], name='job_due'), models.Index(fields=['state', 'lease_until'], name='job_lease'), models.Index(fields=['group', 'state'], name='job_group'), models.Index(fields=['finished_at'], name='job_finished')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), models.Q(('lease_until__isnull', False), models.Q(('lease_token', ''), _negated=True)), _connector='OR'), name='job_running_has_lease'), models.CheckConstraint(condition=models.Q(('attempts__lte', models.F('max_attempts'))), name='job_attempts_bounded')],
            },
        ),
        migrations.CreateModel(
            name='JobEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='jobs.job')),
                ('group', models.CharField(blank=True, max_length=80)),
                ('kind', models.CharField(max_length=60)),
                ('what', models.CharField(choices=[('queued', 'Queued'), ('claimed', 'Claimed'), ('given_back', 'Given Back'), ('lost', 'Lost'), ('attempt_failed', 'Attempt Failed'), ('done', 'Done'), ('failed', 'Failed'), ('cancel_asked', 'Cancel Asked'), ('cancelled', 'Cancelled'), ('tried_again', 'Tried Again')], max_length=16)),
                ('count', models.PositiveIntegerField(default=1, help_text='How many jobs changed.')),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('error', models.TextField(blank=True)),
                ('next_at', models.DateTimeField(help_text='When it is tried again.', null=True)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['group', 'what'], name='job_event_group')],
            },
        ),
    ]
