import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_first_submissions"),
        ("datasets", "0005_curation"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="selection",
            field=models.ForeignKey(
                blank=True,
                help_text="Its documents alone are taken in; empty: all of the dataset.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="campaigns",
                to="datasets.selection",
            ),
        ),
    ]
