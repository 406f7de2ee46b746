"""What the JSON of batches holds: the whole schema, and the codes of faults."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets", "0005_curation"),
    ]

    operations = [
        migrations.AlterField(
            model_name="batch",
            name="fields",
            field=models.JSONField(help_text="{fields, sums, orders}: the schema of the records."),
        ),
        migrations.AlterField(
            model_name="batchdocument",
            name="faults",
            field=models.JSONField(
                default=list,
                help_text="[{field, code, message}, …] of the automatic validation.",
            ),
        ),
    ]
