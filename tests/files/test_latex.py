from portal.files.tables import escaped


def test_every_special_character_is_printed_as_it_is() -> None:
    assert escaped("R&D_{50%}\n~^#$\\") == (
        r"R\&D\_\{50\%\} \textasciitilde{}\textasciicircum{}\#\$\textbackslash{}"
    )
