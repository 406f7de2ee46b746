"""All tables of this app.

Constraints and indexes are options of their model: SQLite remakes a table for each one added later.
"""

import annotation.models.campaigns
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('datasets', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('title', models.CharField(max_length=160)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='datasets.dataset')),
                ('selection', models.ForeignKey(blank=True, help_text='Limits the campaign to these documents; empty for the whole dataset.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='datasets.selection')),
                ('labels', models.JSONField(default=annotation.models.campaigns.default_labels, help_text='Label names, in the order of the keys 1 to 9.')),
                ('overlap', models.PositiveSmallIntegerField(default=2, help_text='Annotators per document, 1 to 4.')),
                ('guidelines', models.TextField(blank=True, help_text='Markdown.')),
                ('guidelines_version', models.PositiveIntegerField(default=1)),
                ('suggestion_sources', models.JSONField(blank=True, default=list, help_text='Sources of the suggestions that annotators see; none by default.')),
                ('screening', models.BooleanField(default=False, help_text='Whether pages are screened before annotation.')),
                ('agreement_threshold', models.FloatField(default=1.0, help_text='Entities with a lower agreement score, 0 to 1, go to adjudication.')),
                ('review_pages', models.PositiveIntegerField(default=100, help_text='Gold pages between two domain reviews; 0 for no review.')),
                ('review_share', models.FloatField(default=0.05, help_text='Share of the facts that a review draws, above 0 and up to 1.')),
                ('qualification_f1', models.FloatField(default=0.9, help_text='Span F1 against known gold needed to qualify, 0 to 1.')),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('closed', 'Closed')], default='draft', max_length=10)),
                ('is_sample', models.BooleanField(default=False)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['title'],
                'constraints': [models.CheckConstraint(condition=models.Q(('overlap__gte', 1), ('overlap__lte', 4)), name='campaign_overlap_1_to_4'), models.CheckConstraint(condition=models.Q(('agreement_threshold__gte', 0), ('agreement_threshold__lte', 1)), name='campaign_threshold_0_to_1'), models.CheckConstraint(condition=models.Q(('review_share__gt', 0), ('review_share__lte', 1)), name='campaign_review_share_0_to_1'), models.CheckConstraint(condition=models.Q(('qualification_f1__gte', 0), ('qualification_f1__lte', 1)), name='campaign_qualification_0_to_1')],
            },
        ),
        migrations.CreateModel(
            name='CampaignImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='annotation.campaign')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source_name', models.CharField(help_text="The file's name.", max_length=300)),
                ('upload', models.FileField(blank=True, max_length=200, upload_to='campaign-imports/%Y/%m/')),
                ('form', models.CharField(choices=[('labelstudio', 'Label Studio JSON'), ('tags', 'HTML with inline tags (ZIP)'), ('jsonl', 'JSON Lines with offsets'), ('full', 'whole campaign (ZIP)')], max_length=12)),
                ('layer', models.CharField(blank=True, choices=[('annotations', 'work of an annotator'), ('gold', 'gold')], max_length=12)),
                ('annotator', models.ForeignKey(help_text='The annotator whose work the labels become.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=12)),
                ('documents', models.PositiveIntegerField(default=0, help_text='Documents with placed labels.')),
                ('spans', models.PositiveIntegerField(default=0, help_text='Spans in those documents.')),
                ('moved', models.PositiveIntegerField(default=0, help_text='Spans placed at other offsets than the file says.')),
                ('faults', models.JSONField(default=list, help_text='One sentence per problem, at most a thousand.')),
                ('fault_count', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True, help_text='Why the whole file failed.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='CampaignInvitation',
            fields=[
                ('invitation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='campaign_invitation', serialize=False, to='accounts.invitation')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotation.campaign')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('reviewer', 'Reviewer')], max_length=10)),
            ],
        ),
        migrations.CreateModel(
            name='GuidelinesVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines_versions', to='annotation.campaign')),
                ('number', models.PositiveIntegerField()),
                ('text', models.TextField(blank=True, help_text='Markdown.')),
                ('note', models.CharField(blank=True, help_text='The changes and their reason.', max_length=300)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['campaign', '-number'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='guidelines_version_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotation.campaign')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('reviewer', 'Reviewer')], max_length=10)),
                ('seen_guidelines', models.PositiveIntegerField(default=0, help_text='Number of the newest version this user has opened; 0 for none.')),
                ('qualified_at', models.DateTimeField(help_text='When the annotator passed the qualification round.', null=True)),
            ],
            options={
                'ordering': ['campaign', 'role', 'id'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'user', 'role'), name='membership_once')],
            },
        ),
        migrations.CreateModel(
            name='Reminder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reminders', to='annotation.campaign')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('waiting', models.PositiveIntegerField(help_text='Open tasks at that time.')),
                ('sent_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('sent_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['campaign', 'user'], name='reminder_campaign_user')],
            },
        ),
        migrations.CreateModel(
            name='ReviewRound',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_rounds', to='annotation.campaign')),
                ('number', models.PositiveIntegerField()),
                ('seed', models.PositiveBigIntegerField(help_text='The same seed gives the same draw.')),
                ('share', models.FloatField()),
                ('pages', models.PositiveIntegerField(help_text='Gold pages drawn from.')),
                ('facts', models.PositiveIntegerField(help_text='Gold facts on those pages.')),
                ('population', models.JSONField(default=dict, help_text='{document name: [start, …]} of those facts, to repeat the draw.')),
                ('guidelines_version', models.PositiveIntegerField(help_text='The version when the round was opened.')),
                ('state', models.CharField(choices=[('open', 'Open'), ('done', 'Done')], default='open', max_length=4)),
                ('opened_by', models.ForeignKey(help_text='Empty for a round that was opened automatically.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['campaign', 'number'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='review_round_once'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('state', 'open')), models.Q(('closed_at__isnull', False), ('state', 'done')), _connector='OR'), name='review_round_done_has_time')],
            },
        ),
        migrations.CreateModel(
            name='CampaignDocument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='annotation.campaign')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='datasets.document')),
                ('stage', models.CharField(choices=[('screening', 'screening'), ('annotation', 'annotation'), ('validation', 'validation'), ('adjudication', 'adjudication'), ('gold', 'gold'), ('excluded', 'excluded')], default='annotation', max_length=14)),
                ('purpose', models.CharField(choices=[('work', 'work'), ('calibration', 'calibration, labelled by every annotator'), ('qualification', 'qualification, against known gold')], default='work', max_length=14)),
                ('overlap', models.PositiveSmallIntegerField(help_text="Annotators of this document; empty to use the campaign's number.", null=True)),
                ('faults', models.JSONField(default=list, help_text='Faults found by validation: [{assignment, key, code, message}, …].')),
                ('settled_at', models.DateTimeField(help_text='When the last annotator submitted.', null=True)),
                ('gold_at', models.DateTimeField(null=True)),
                ('review_round', models.ForeignKey(help_text='The domain review that drew from this gold page.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='annotation.reviewround')),
            ],
            options={
                'ordering': ['campaign', 'id'],
                'indexes': [models.Index(fields=['campaign', 'stage'], name='campaign_document_stage')],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'document'), name='campaign_document_once'), models.CheckConstraint(condition=models.Q(('overlap__isnull', True), ('overlap__gte', 1), _connector='OR'), name='campaign_document_overlap_from_1')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.campaigndocument')),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                ('state', models.CharField(choices=[('assigned', 'assigned'), ('in_progress', 'in progress'), ('submitted', 'submitted'), ('withdrawn', 'withdrawn')], default='assigned', max_length=12)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('active_seconds', models.PositiveIntegerField(default=0, help_text='Active time on the page, measured by the browser.')),
                ('flag', models.CharField(blank=True, choices=[('', 'none'), ('flagged', 'flagged'), ('skipped', 'skipped')], default='', max_length=7)),
                ('flag_reason', models.TextField(blank=True)),
                ('return_reason', models.TextField(blank=True, help_text='Why a lead returned the page, shown to the annotator.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('submitted_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['annotator', 'state'], name='assignment_annotator')],
                'constraints': [models.UniqueConstraint(fields=('campaign_document', 'annotator'), name='assignment_once'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'submitted'), ('submitted_at__isnull', False)), models.Q(models.Q(('state', 'submitted'), _negated=True), ('submitted_at__isnull', True)), _connector='OR'), name='assignment_submitted_has_time'), models.CheckConstraint(condition=models.Q(models.Q(('flag', ''), ('flag_reason', '')), models.Q(models.Q(('flag', ''), _negated=True), models.Q(('flag_reason', ''), _negated=True)), _connector='OR'), name='assignment_flag_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='FirstSubmission',
            fields=[
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='first_submission', serialize=False, to='annotation.assignment')),
                ('spans', models.JSONField(help_text='[[start, end, label, value, sign], …] in text order.')),
                ('submitted_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='KnownGold',
            fields=[
                ('campaign_document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='known_gold', serialize=False, to='annotation.campaigndocument')),
                ('spans', models.JSONField(help_text='[[start, end, label], …] in text order.')),
                ('source', models.CharField(help_text='The source, such as a release.', max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='annotation.campaigndocument')),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('boundary', 'boundary differs'), ('label', 'label differs'), ('missing', 'missed by some'), ('extra', 'marked by a minority'), ('value', 'value missing or differs'), ('review', 'opened for correction')], max_length=10)),
                ('proposals', models.JSONField(help_text='[{assignment, spans: [{label, start, end, quote, value, sign}]}, …], one per annotator.')),
                ('score', models.FloatField(default=0, help_text='Agreement on the entity, 0 to 1: the largest share of annotators with the same marks; for boundaries the mean F1 of the characters marked.')),
                ('state', models.CharField(choices=[('open', 'Open'), ('decided', 'Decided')], default='open', max_length=10)),
                ('decision', models.JSONField(default=list, help_text='The spans that become gold; an empty list is a valid decision.')),
                ('reason', models.TextField(blank=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['campaign_document', 'start'],
                'indexes': [models.Index(fields=['campaign_document', 'state'], name='case_state')],
                'constraints': [models.UniqueConstraint(fields=('campaign_document', 'start'), name='case_start_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='case_not_empty'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('state', 'open')), models.Q(('decided_at__isnull', False), ('state', 'decided')), _connector='OR'), name='case_decided_has_time')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='annotation.assignment')),
                ('span_key', models.CharField(blank=True, help_text='Empty for the whole page.', max_length=36)),
                ('text', models.TextField()),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('edited_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['assignment', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='annotation.case')),
                ('choice', models.CharField(choices=[('proposal', "one annotator's marks"), ('majority', 'the marks of the majority'), ('both', 'the marks of both'), ('neither', 'nothing to mark'), ('edit', 'edited'), ('reopened', 'opened again')], max_length=10)),
                ('proposal', models.PositiveSmallIntegerField(help_text='The place of the chosen annotator, from 0.', null=True)),
                ('spans', models.JSONField(default=list, help_text='[{label, start, end, quote, value, sign}, …]')),
                ('reason', models.TextField(blank=True)),
                ('decided_by', models.ForeignKey(help_text='Empty for decisions of the majority rule.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['case', 'id'],
            },
        ),
        migrations.CreateModel(
            name='GoldSpan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_spans', to='annotation.campaigndocument')),
                ('label', models.CharField(max_length=64)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('value', models.TextField(blank=True, help_text='As in Span.')),
                ('sign', models.CharField(blank=True, help_text='As in Span.', max_length=20)),
                ('origin', models.CharField(choices=[('agreed', 'Agreed'), ('majority', 'Majority'), ('adjudicated', 'Adjudicated'), ('reviewed', 'Reviewed'), ('imported', 'Imported')], max_length=12)),
                ('case', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gold_spans', to='annotation.case')),
            ],
            options={
                'ordering': ['campaign_document', 'start'],
                'constraints': [models.UniqueConstraint(fields=('campaign_document', 'start'), name='gold_span_start_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='gold_span_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='QualificationResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_results', to='annotation.assignment')),
                ('attempt', models.PositiveSmallIntegerField()),
                ('matched', models.PositiveIntegerField(help_text="Spans with the gold's offsets and label.")),
                ('marked', models.PositiveIntegerField(help_text='Spans the annotator marked.')),
                ('expected', models.PositiveIntegerField(help_text='Spans of the gold.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['assignment', 'attempt'],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'attempt'), name='qualification_attempt_once')],
            },
        ),
        migrations.CreateModel(
            name='ReviewItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.reviewround')),
                ('position', models.PositiveIntegerField(help_text='From 1, in the order of pages and text.')),
                ('campaign_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_items', to='annotation.campaigndocument')),
                ('label', models.CharField(max_length=64)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField()),
                ('value', models.TextField(blank=True)),
                ('sign', models.CharField(blank=True, max_length=20)),
                ('verdict', models.CharField(choices=[('pending', 'to review'), ('accepted', 'accepted'), ('corrected', 'corrected'), ('sent_back', 'sent back')], default='pending', max_length=9)),
                ('correction', models.JSONField(help_text='{label, start, end, quote, value, sign}, or null to remove the fact.', null=True)),
                ('reason', models.TextField(blank=True)),
                ('guidelines_version', models.PositiveIntegerField(help_text='The version when the item was decided.', null=True)),
                ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['round', 'position'],
                'constraints': [models.UniqueConstraint(fields=('round', 'position'), name='review_item_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='review_item_not_empty'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('verdict', 'pending')), models.Q(models.Q(('verdict', 'pending'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='review_item_decided_has_time'), models.CheckConstraint(condition=models.Q(('verdict__in', ['pending', 'accepted']), models.Q(('reason', ''), _negated=True), _connector='OR'), name='review_item_change_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='annotation.assignment')),
                ('number', models.PositiveIntegerField()),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('save_key', models.CharField(max_length=36)),
                ('digest', models.CharField(help_text='SHA-256 of the saved spans, to detect a different save with the same key.', max_length=64)),
                ('added', models.JSONField(default=list)),
                ('removed', models.JSONField(default=list)),
                ('active_seconds', models.PositiveIntegerField(default=0, help_text='Active time since the save before.')),
                ('note', models.CharField(blank=True, help_text='The source of a save that was not made by hand.', max_length=200)),
                ('saved_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['assignment', 'number'],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'number'), name='revision_number_once'), models.UniqueConstraint(fields=('assignment', 'save_key'), name='revision_save_once')],
            },
        ),
        migrations.CreateModel(
            name='Screening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='screenings', to='annotation.campaigndocument')),
                ('verdict', models.CharField(choices=[('intact', 'intact'), ('faulty', 'faulty')], max_length=6)),
                ('faults', models.JSONField(default=list, help_text='Codes of Fault; empty for an intact page.')),
                ('reason', models.TextField(blank=True)),
                ('screened_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('screened_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['campaign_document', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Span',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='spans', to='annotation.assignment')),
                ('key', models.CharField(max_length=36)),
                ('label', models.CharField(max_length=64)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('quote', models.TextField(help_text='text[start:end], stored to detect drift.')),
                ('value', models.TextField(blank=True, help_text='Decimal, ISO date or ISO 8601 duration; empty if there is none.')),
                ('sign', models.CharField(blank=True, help_text='How the sign is written; empty if there is none.', max_length=20)),
                ('edited', models.BooleanField(default=False, help_text='Whether the annotator set value and sign; otherwise they are derived.')),
            ],
            options={
                'ordering': ['assignment', 'start'],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'key'), name='span_key_once'), models.UniqueConstraint(fields=('assignment', 'start'), name='span_start_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='span_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='SuggestionUpload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='suggestion_uploads', to='annotation.campaign')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('source_name', models.CharField(help_text="The file's name.", max_length=300)),
                ('upload', models.FileField(blank=True, max_length=200, upload_to='suggestions/%Y/%m/')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=12)),
                ('documents', models.PositiveIntegerField(default=0, help_text='Documents with placed labels.')),
                ('spans', models.PositiveIntegerField(default=0, help_text='Suggestions in those documents.')),
                ('faults', models.JSONField(default=list, help_text='One sentence per document not placed, at most a thousand.')),
                ('fault_count', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True, help_text='Why the whole file failed.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ModelSuggestions',
            fields=[
                ('campaign_document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='model_suggestions', serialize=False, to='annotation.campaigndocument')),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.suggestionupload')),
                ('spans', models.JSONField(help_text='[[start, end, label], …] in text order, code points.')),
            ],
        ),
    ]
