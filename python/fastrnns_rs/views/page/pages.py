"""Pages of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.views.page.writing import page_text, require_packages

if TYPE_CHECKING:
    from fastrnns_rs.views.page.parts import Article


def html_page(*documents: Any) -> str:
    """Returns a page of one or several documents.

    Raises:
        MissingError: If jinja2 or matplotlib is not installed.
    """
    require_packages()
    from fastrnns_rs.views.page.charts import Charts

    charts = Charts(documents)
    articles = [_maker(one)(one, charts) for one in documents]
    title = articles[0].title if len(articles) == 1 else f"{len(articles):,} documents"
    return page_text(title, articles, charts.styles)


def _maker(document: object) -> Callable[[Any, Any], Article]:
    makers = _makers()
    return next(makers[one] for one in type(document).__mro__ if one in makers)


def _makers() -> dict[type, Callable[[Any, Any], Article]]:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.history import History
    from fastrnns_rs.documents.inductor_report import InductorReport
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.documents.summary import SummaryDocument
    from fastrnns_rs.views.page import comparison_page, history_page, inductor_page, run_page, summary_page
    from fastrnns_rs.views.summary.plain import PlainSummary

    return {
        Run: run_page.article,
        Comparison: comparison_page.article,
        History: history_page.article,
        InductorReport: inductor_page.article,
        SummaryDocument: summary_page.article,
        PlainSummary: summary_page.article,
    }
