"""All tables of this app.

Constraints and indexes are options of their model: SQLite remakes a table for each one added later.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verb', models.CharField(max_length=60)),
                ('subject_type', models.CharField(max_length=60)),
                ('subject_id', models.CharField(max_length=60)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('data', models.JSONField(default=dict)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['subject_type', 'subject_id', '-id'], name='event_subject')],
            },
        ),
    ]
