from django.template import Context, Template


def render(source: str, **values: object) -> str:
    return Template("{% load tables %}" + source).render(Context(values))


def test_a_head_has_one_cell_for_each_name() -> None:
    assert render('{% columns "Page" "#Facts" "(Actions)" %}') == (
        '<thead><tr><th scope="col">Page</th>'
        '<th scope="col" class="num">Facts</th>'
        '<th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead>'
    )


def test_names_are_escaped() -> None:
    head = render("{% columns name %}", name="<b>Bold</b>")

    assert head == '<thead><tr><th scope="col">&lt;b&gt;Bold&lt;/b&gt;</th></tr></thead>'
