import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scoring", "0001_initial")]

    operations = [
        migrations.RenameModel("Likeness", "Similarity"),
        migrations.AlterModelOptions(
            "similarity", options={"ordering": ["-id"], "verbose_name_plural": "similarities"}
        ),
        migrations.AlterField(
            "similarity",
            "submission",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="similarities",
                to="scoring.submission",
            ),
        ),
    ]
