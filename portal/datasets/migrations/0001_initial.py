"""All tables of this app.

Constraints and indexes are options of their model: SQLite remakes a table for each one added later.
"""

import django.db.models.deletion
import django.utils.timezone
import portal.datasets.models.documents
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Dataset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(help_text="The name in URLs: a–z, digits and hyphens. You cannot change it later.", max_length=80, unique=True, validators=[portal.datasets.models.documents.check_slug_is_free])),
                ('title', models.CharField(max_length=160)),
                ('description', models.TextField(blank=True, help_text='Markdown.')),
                ('licence', models.CharField(blank=True, help_text="The licence of the documents.", max_length=160)),
                ('visibility', models.CharField(choices=[('private', "private: organisers and the campaign's people"), ('public', 'public: anyone may read its documents')], default='private', help_text="Documents of a release with hidden gold stay hidden in a public dataset.", max_length=10)),
                ('is_sample', models.BooleanField(default=False)),
                ('derived_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='variants', to='datasets.dataset')),
                ('derivation', models.JSONField(blank=True, help_text="{kind, strength, seed, version} of its simulated captures.", null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['title'],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='datasets.dataset')),
                ('name', models.CharField(help_text='The published id, unique in the dataset.', max_length=160)),
                ('doc_type', models.CharField(choices=[('financial_statement', 'financial statement'), ('supplemental_report', 'supplemental report'), ('tax_form', 'tax form'), ('securities_transaction', 'securities transaction'), ('financial_legal', 'financial legal document'), ('other', 'other')], default='other', max_length=30)),
                ('company', models.CharField(blank=True, max_length=200)),
                ('form_type', models.CharField(blank=True, max_length=60)),
                ('fiscal_year', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('source_url', models.CharField(blank=True, max_length=500)),
                ('source', models.CharField(blank=True, help_text="The host of its URL, or a benchmark.", max_length=80)),
                ('fact_count', models.PositiveIntegerField(help_text="Facts in the newest release with this document; empty without one.", null=True)),
                ('licence', models.CharField(blank=True, max_length=300)),
                ('metadata', models.JSONField(default=dict)),
                ('kind', models.CharField(choices=[('page', 'page'), ('picture', 'picture')], default='page', max_length=8)),
                ('language', models.CharField(blank=True, help_text='BCP 47, such as en or zh.', max_length=12)),
                ('state', models.CharField(choices=[('active', 'active'), ('held', 'held back')], default='active', max_length=6)),
                ('held_reason', models.TextField(blank=True, help_text="Why campaigns and releases leave it out.")),
                ('source_sha256', models.CharField(help_text="Hash of the imported file.", max_length=64)),
                ('html_sha256', models.CharField(help_text="Hash of the canonical HTML.", max_length=64)),
                ('text_sha256', models.CharField(help_text="Hash of the canonical text, in UTF-8.", max_length=64)),
                ('text_chars', models.PositiveIntegerField(help_text='Length of the canonical text, code points.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'indexes': [models.Index(fields=['dataset', 'doc_type', 'name', 'company', 'id'], name='document_type'), models.Index(fields=['dataset', 'name', 'company', 'id'], name='document_search'), models.Index(fields=['dataset', 'fiscal_year', 'name', 'id'], name='document_year'), models.Index(fields=['dataset', 'source', 'name', 'id'], name='document_source'), models.Index(fields=['dataset', 'language', 'name', 'id'], name='document_language'), models.Index(fields=['dataset', 'state', 'name', 'id'], name='document_state'), models.Index(fields=['dataset', 'kind', 'name', 'id'], name='document_kind'), models.Index(fields=['dataset', 'fact_count', 'name', 'id'], name='document_facts'), models.Index(fields=['dataset', 'text_chars', 'name', 'id'], name='document_size')],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'name'), name='document_name_in_dataset'), models.UniqueConstraint(fields=('dataset', 'html_sha256'), name='document_content_in_dataset'), models.CheckConstraint(condition=models.Q(('text_chars__gt', 0), ('kind', 'picture'), _connector='OR'), name='document_has_text'), models.CheckConstraint(condition=models.Q(('state', 'active'), models.Q(('held_reason', ''), _negated=True), _connector='OR'), name='document_held_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='PageImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='datasets.document')),
                ('number', models.PositiveSmallIntegerField(default=1)),
                ('file', models.FileField(max_length=200, upload_to=portal.datasets.models.documents.image_path)),
                ('width', models.PositiveIntegerField(help_text='Pixels.')),
                ('height', models.PositiveIntegerField(help_text='Pixels.')),
                ('sha256', models.CharField(max_length=64)),
                ('is_rendered', models.BooleanField(default=False, help_text="Rendered by the site from the HTML, not imported.")),
                ('thumbnail', models.FileField(blank=True, max_length=200, upload_to=portal.datasets.models.documents.thumbnail_path)),
                ('text_similarity', models.FloatField(help_text="Share of the page's text found in the image, 0 to 1; empty if not checked.", null=True)),
                ('transform', models.JSONField(help_text="{kind, strength, seed, …} of a simulated capture; null if real.", null=True)),
            ],
            options={
                'ordering': ['document', 'number'],
                'constraints': [models.UniqueConstraint(fields=('document', 'number'), name='image_number_in_document')],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='datasets.dataset')),
                ('number', models.PositiveIntegerField()),
                ('fields', models.JSONField(help_text='{fields, sums, orders}: the schema of the records.')),
                ('threshold', models.FloatField(default=0.97, help_text="Accuracy that every field must reach, 0 to 1.")),
                ('seed', models.PositiveBigIntegerField(help_text="The same seed gives the same sample.")),
                ('sample_size', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('open', 'under inspection'), ('accepted', 'accepted'), ('rejected', 'rejected')], default='open', max_length=8)),
                ('report', models.JSONField(default=dict, help_text="Accuracy by field with n, and the validation's faults; set at the end.")),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['dataset', 'number'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'number'), name='batch_number_once'), models.CheckConstraint(condition=models.Q(('threshold__gt', 0), ('threshold__lte', 1)), name='batch_threshold_0_to_1'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('state', 'open')), models.Q(models.Q(('state', 'open'), _negated=True), ('closed_at__isnull', False)), _connector='OR'), name='batch_closed_has_time')],
            },
        ),
        migrations.CreateModel(
            name='DatasetTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='datasets.dataset')),
                ('kind', models.CharField(choices=[('render', 'render pages'), ('pii', "find personal data"), ('duplicates', "find near duplicates"), ('derive', 'derive a stress variant'), ('content', "check required content"), ('freeze', 'freeze a release')], max_length=10)),
                ('options', models.JSONField(default=dict)),
                ('upload', models.FileField(blank=True, max_length=200, upload_to='tasks/%Y/%m/')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('total', models.PositiveIntegerField(default=0, help_text='Files or documents to work on.')),
                ('done', models.PositiveIntegerField(default=0)),
                ('report', models.JSONField(default=dict, help_text='{counts: {what: number}, faults: [{name, code, reason}, …], faults_left_out}')),
                ('error', models.TextField(blank=True, help_text='Why all of the work failed.')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('dataset', 'kind'), name='dataset_task_one_of_a_kind')],
            },
        ),
        migrations.CreateModel(
            name='DocumentContent',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='content', serialize=False, to='datasets.document')),
                ('html', models.TextField()),
                ('text', models.TextField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='DocumentRecord',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='record', serialize=False, to='datasets.document')),
                ('benchmark', models.CharField(help_text='A key of the benchmarks.', max_length=40)),
                ('gold', models.JSONField(help_text="The gold line, as returned by the benchmark's reader.")),
                ('prompt', models.TextField(blank=True, help_text="The prompt of the model; public.")),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='XbrlFacts',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='xbrl_facts', serialize=False, to='datasets.document')),
                ('facts', models.JSONField(help_text="[[start, end, kind, concept, {sign, scale, unit, period}], …] in text order; offsets in code points of the canonical text, kind number or date, concept such as us-gaap:Revenues. Older rows lack the object; unknown keys are left out.")),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='BatchDocument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='documents', to='datasets.batch')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='datasets.document')),
                ('is_sampled', models.BooleanField(default=False)),
                ('faults', models.JSONField(default=list, help_text='[{field, code, message}, …] of the automatic validation.')),
            ],
            options={
                'ordering': ['batch', 'id'],
                'constraints': [models.UniqueConstraint(fields=('batch', 'document'), name='batch_document_once')],
            },
        ),
        migrations.CreateModel(
            name='ImportRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='datasets.dataset')),
                ('form', models.CharField(choices=[('pages', 'pages with images and metadata'), ('filing', "SEC filings"), ('fincriticaled', "FinCriticalED's CSV or Parquet"), ('labelstudio', 'Label Studio JSON'), ('fcmbench', "FCMBench's JSON Lines with images"), ('ccocr', "CC-OCR's index and label files"), ('receipts', 'receipts: images with JSON'), ('parquet', 'Parquet with embedded images')], default='pages', max_length=14)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('options', models.JSONField(default=dict, help_text="{benchmark: key} if the layout serves several benchmarks.")),
                ('source_name', models.CharField(help_text="The archive's or folder's name.", max_length=300)),
                ('upload', models.FileField(blank=True, max_length=200, upload_to='imports/%Y/%m/')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                ('total', models.PositiveIntegerField(default=0, help_text="Files or documents to work on.")),
                ('ignored', models.JSONField(default=dict, help_text="Counts of files that were not read, by folder.")),
                ('error', models.TextField(blank=True, help_text='Why all of the work failed.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ImportItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='datasets.importrun')),
                ('name', models.CharField(help_text="The file's name in the source, or meta.jsonl:LINE.", max_length=300)),
                ('document', models.ForeignKey(help_text="The imported document, or the one that it conflicts with.", null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='datasets.document')),
                ('outcome', models.CharField(choices=[('imported', 'Imported'), ('updated', 'Updated'), ('unchanged', 'Unchanged'), ('refused', 'Refused')], max_length=10)),
                ('code', models.CharField(blank=True, help_text="The reason as a stable code.", max_length=40)),
                ('reason', models.TextField(blank=True, help_text="The reason as text.")),
            ],
            options={
                'ordering': ['run', 'id'],
                'indexes': [models.Index(fields=['run', 'outcome'], name='import_item_outcome')],
                'constraints': [models.UniqueConstraint(fields=('run', 'name'), name='import_item_once_per_run')],
            },
        ),
        migrations.CreateModel(
            name='Inspection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch_document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='inspections', to='datasets.batchdocument')),
                ('field', models.CharField(max_length=80)),
                ('is_right', models.BooleanField()),
                ('correct_value', models.JSONField(help_text="The correct value, if it is wrong.", null=True)),
                ('comment', models.TextField(blank=True)),
                ('inspector', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('inspected_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['batch_document', 'field'],
                'constraints': [models.UniqueConstraint(fields=('batch_document', 'field'), name='inspection_once')],
            },
        ),
        migrations.CreateModel(
            name='NearDuplicate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='datasets.document')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='near_duplicates', to='datasets.document')),
                ('similarity', models.FloatField(help_text="Similarity of their texts, 0 to 1.")),
                ('decision', models.CharField(choices=[('open', 'to decide'), ('kept', 'both kept'), ('held', 'the second held back'), ('held_first', 'the first held back')], default='open', max_length=10)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-similarity', 'id'],
                'constraints': [models.UniqueConstraint(fields=('first', 'second'), name='near_duplicate_once'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='near_duplicate_order')],
            },
        ),
        migrations.CreateModel(
            name='TextBoxes',
            fields=[
                ('image', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text_boxes', serialize=False, to='datasets.pageimage')),
                ('boxes', models.JSONField(help_text='[[start, end, left, top, width, height], …]: code points of the canonical text, pixels of the image.')),
            ],
        ),
        migrations.CreateModel(
            name='PiiFinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pii_findings', to='datasets.document')),
                ('kind', models.CharField(choices=[('email', "email address"), ('phone', 'telephone number'), ('ssn', 'social security number'), ('card', 'card number'), ('account', 'account number (IBAN or routing)')], max_length=8)),
                ('rule', models.CharField(blank=True, help_text='The rule that found it.', max_length=40)),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('decision', models.CharField(choices=[('open', 'to decide'), ('kept', 'kept'), ('masked', 'masked')], default='open', max_length=6)),
                ('reason', models.TextField(blank=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['document', 'start'],
                'constraints': [models.UniqueConstraint(fields=('document', 'kind', 'start'), name='pii_finding_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='pii_finding_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='datasets.dataset')),
                ('version', models.CharField(help_text='Semantic version, such as 1.0.0.', max_length=32)),
                ('notes', models.TextField(blank=True, help_text="The changes in this version, in Markdown.")),
                ('visibility', models.CharField(choices=[('public', 'public: pages, images and gold'), ('gold_hidden', 'gold hidden: images, ids and prompt only'), ('private', 'private: organisers only')], default='gold_hidden', max_length=12)),
                ('benchmark', models.CharField(default='fincriticaled', max_length=40)),
                ('labels', models.JSONField(default=list, help_text='The label set of the gold.')),
                ('scheme', models.CharField(default='release-v1', help_text="How `sha256` is computed and what it covers; see publishing.manifest.", max_length=12)),
                ('sha256', models.CharField(help_text="The published hash, following `scheme`.", max_length=64)),
                ('gold_sha256', models.CharField(blank=True, help_text="Hash of one line “sha256  name” per item, sorted; equal for equal gold. Empty in older releases, where `sha256` is this hash.", max_length=64)),
                ('about', models.JSONField(help_text="{dataset, title, description, licence, keywords, notes, frozen_at} as the release was frozen; null in older releases, which show the dataset's current state.", null=True)),
                ('item_count', models.PositiveIntegerField()),
                ('fact_count', models.PositiveIntegerField()),
                ('licence', models.CharField(blank=True, help_text="If set, users must accept it before a download.", max_length=160)),
                ('citation', models.JSONField(default=dict, help_text="{authors: [name, …], year, doi, url}: how to cite the release.")),
                ('draw', models.JSONField(default=dict, help_text="{share, seed, group_by, …} and the outcome of a drawn split; empty if none was drawn.")),
                ('frozen_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('frozen_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['dataset', '-frozen_at'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'version'), name='release_version_once')],
            },
        ),
        migrations.CreateModel(
            name='LicenceAcceptance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='acceptances', to='datasets.release')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('accepted_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'user'), name='licence_accepted_once')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='datasets.release')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(help_text='The published id.', max_length=160)),
                ('split', models.CharField(blank=True, choices=[('dev', 'development'), ('test', 'test')], help_text="With hidden gold, dev is open and test is hidden; empty without splits.", max_length=4)),
                ('document', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='release_items', to='datasets.document')),
                ('gold', models.JSONField(help_text='The canonical gold line of the benchmark.')),
                ('facts', models.JSONField(default=list, help_text='[{n, type, value, start, end}, …]')),
                ('pinned', models.JSONField(help_text="{document, prompt, images: [{name, path, sha256}, …], meta: a line of meta.jsonl, text_chars, text_sha256} as frozen; null in older releases, which show the document's current state.", null=True)),
                ('sha256', models.CharField(help_text="Hash of the gold line's canonical JSON.", max_length=64)),
            ],
            options={
                'ordering': ['release', 'position'],
                'indexes': [models.Index(fields=['release', 'split', 'document'], name='release_item_documents')],
                'constraints': [models.UniqueConstraint(fields=('release', 'name'), name='release_item_name_once'), models.UniqueConstraint(fields=('release', 'position'), name='release_item_position')],
            },
        ),
        migrations.CreateModel(
            name='Dispute',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='datasets.releaseitem')),
                ('fact', models.PositiveIntegerField(help_text="Number of the fact in the item, from 0; empty if a fact is missing.", null=True)),
                ('claim', models.TextField(help_text="The correct value.")),
                ('reason', models.TextField()),
                ('raised_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='disputes', to=settings.AUTH_USER_MODEL)),
                ('raised_at', models.DateTimeField(auto_now_add=True)),
                ('state', models.CharField(choices=[('open', 'Open'), ('accepted', 'Accepted'), ('declined', 'Declined'), ('withdrawn', 'Withdrawn')], default='open', max_length=10)),
                ('answer', models.TextField(blank=True)),
                ('correction', models.JSONField(help_text="If accepted: {act: change, remove or add, type, value, start, end}; null if the gold is changed by hand.", null=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(help_text="Decided or withdrawn.", null=True)),
                ('settled_in', models.ForeignKey(help_text="The release that corrects an accepted dispute.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='settled_disputes', to='datasets.release')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('state', 'open')), models.Q(models.Q(('state', 'open'), _negated=True), ('decided_at__isnull', False)), _connector='OR'), name='dispute_decided_has_time')],
            },
        ),
        migrations.CreateModel(
            name='Selection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='selections', to='datasets.dataset')),
                ('title', models.CharField(max_length=160)),
                ('seed', models.PositiveBigIntegerField()),
                ('spec', models.JSONField(help_text='{strata: [field, …], per_stratum or size, filters}')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('documents', models.ManyToManyField(related_name='selections', to='datasets.document')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'title'), name='selection_title_once')],
            },
        ),
    ]
