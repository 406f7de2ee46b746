"""All pages of the sample benchmark, in the order of `content/pages.toml`."""

from sample.generator.content import content
from sample.generator.families import (
    contracts,
    earnings_release,
    financial_statement,
    fund_report,
    issuer_purchases,
    loan_documents,
    notes_to_statements,
    offering_documents,
    outlook,
    ownership_reports,
    property_supplement,
    securities_terms,
    tax_form,
    tax_schedule,
)
from sample.generator.layout import SamplePage

BUILDERS = {
    **contracts.BUILDERS,
    **earnings_release.BUILDERS,
    **financial_statement.BUILDERS,
    **fund_report.BUILDERS,
    **issuer_purchases.BUILDERS,
    **loan_documents.BUILDERS,
    **notes_to_statements.BUILDERS,
    **offering_documents.BUILDERS,
    **outlook.BUILDERS,
    **ownership_reports.BUILDERS,
    **property_supplement.BUILDERS,
    **securities_terms.BUILDERS,
    **tax_form.BUILDERS,
    **tax_schedule.BUILDERS,
}

PAGES = tuple(
    SamplePage(id=page_id, build=BUILDERS[page_id], **card)
    for page_id, card in content("pages").items()
)
