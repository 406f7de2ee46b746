"""The people of the sample site. Their email addresses end in .example, which no one can own."""

from dataclasses import dataclass

PASSWORD = "sample-facts"  # noqa: S105  printed on purpose: a demonstration, never a public site


@dataclass(frozen=True)
class Person:
    """`key` identifies the person in the sample data."""

    key: str
    name: str
    role: str
    is_organiser: bool = False

    @property
    def email(self) -> str:
        return f"{self.key}@factboard.example"


PEOPLE = (
    Person("organiser", "Olga Organiser", "organiser: datasets, boards, publishing", True),
    Person("lead", "Leo Lead", "lead: screening, validation, agreement, adjudication, release"),
    Person("annotator1", "Ada Annotator", "annotator with open tasks"),
    Person("annotator2", "Bo Annotator", "annotator"),
    Person("annotator3", "Chi Annotator", "annotator"),
    Person("annotator4", "Dee Annotator", "annotator with open tasks"),
    Person("annotator5", "Eve Annotator", "new annotator: has the qualification round to do"),
    Person("reviewer", "Rita Reviewer", "domain reviewer, with drawn facts to look at"),
    Person("researcher", "Rae Researcher", "researcher: uploads submissions"),
)
