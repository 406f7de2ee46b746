"""Navigation in two rows: which links there are, and where one is."""

from portal.web.markup import Group, Link, Tab, navigation

HOME = Group("", (Tab("home", "Overview", "/"),))
WORK = Group("Work", (Tab("queue", "Queue", "/queue/"), Tab("done", "Done", "/done/")))


def test_group_shows_its_pages_only_when_it_is_current() -> None:
    at_home = navigation([HOME, WORK], "home", below=False)
    assert at_home.groups == (Link("Overview", "/", "page"), Link("Work", "/queue/", ""))
    assert (at_home.group, at_home.pages) == ("", ())

    at_work = navigation([HOME, WORK], "done", below=False)
    assert at_work.groups == (Link("Overview", "/", ""), Link("Work", "/queue/", "true"))
    assert at_work.group == "Work"
    assert at_work.pages == (Link("Queue", "/queue/", ""), Link("Done", "/done/", "page"))


def test_subpage_marks_the_page_above_it() -> None:
    assert navigation([HOME], "home", below=True).groups[0].current == "true"
    assert navigation([WORK], "done", below=True).pages[1].current == "true"


def test_hidden_pages_are_left_out() -> None:
    """A group of one page is that page; a group without pages is not shown."""
    closed = Tab("closed", "Closed", "/closed/", shown=False)
    found = navigation(
        [Group("Work", (closed, *WORK.tabs[1:])), Group("Secret", (closed,))], "done", below=False
    )
    assert found.groups == (Link("Done", "/done/", "page"),)
    assert found.pages == ()
