"""Plot of a row over runs: point estimates, change points and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.figures import estimate_with_interval
from fastrnns_rs.views.plots.drawing import LONGEST_NAME
from fastrnns_rs.views.plots.limits import TimeAxis, draw_interval
from fastrnns_rs.views.table import fit

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History
    from fastrnns_rs.documents.history_trends import Trend, TrendPoint
    from fastrnns_rs.views.plots.drawing import Canvas
    from fastrnns_rs.views.scale import Scale

#: Inches of the figure.
HEIGHT = 2.8
#: Number of labelled runs, digits of a commit, length of a date, and of a date with its time.
_MOST_LABELS, _DIGITS, _DATE, _MINUTE = 6, 7, 10, 16
#: Points of a label with the gap to the next.
_LABEL_WIDTH, _POINTS_PER_INCH = 58.0, 72
#: Characters of the tags at a point.
_LONGEST_TAGS = 18
#: Distance of two labelled tags, as a share of the points.
_LEAST_SHARE = 0.17
#: Size of a dot, and of many.
_DOT, _SMALL_DOT, _MANY = 20, 8, 80
#: Fewer processes have no interval.
_LEAST_FOR_INTERVAL = 3
#: Fewer runs have no change points.
_LEAST_FOR_CHANGES = 8


def rows(history: History) -> list[str]:
    """Returns the names of the rows over runs."""
    return [one.name for one in history.trends]


def height(_: History, _row: str) -> float:
    """Returns the height of the figure in inches."""
    return HEIGHT


def draw(history: History, canvas: Canvas, row: str) -> None:
    """Draws a row: runs from the left in their order, and their times upwards."""
    trend = next(one for one in history.trends if one.name == row)
    axis = _axis(trend)
    axis.set(canvas, "y")
    scale, axes = axis.scale, canvas.axes
    _draw_levels(canvas, trend, scale)
    for place, one in enumerate(trend.points):
        draw_interval(canvas, "y", place, interval_ends(one), canvas.color(0), unit=scale.ns, width=1.8)
    few = [one.n_processes < _LEAST_FOR_INTERVAL for one in trend.points]
    dots = axes.scatter(
        range(len(trend.points)),
        [one.estimate_ns / scale.ns for one in trend.points],
        s=_DOT if len(trend.points) <= _MANY else _SMALL_DOT,
        marker=canvas.marker(0),
        edgecolors=canvas.color(0),
        facecolors=[canvas.theme.paper if one else canvas.color(0) for one in few],
        zorder=3,
    )
    canvas.describe(dots, [f"{_run_text(one)}: {point_text(one, scale)} {scale.unit}" for one in trend.points])
    _mark_tags(canvas, trend)
    _label_runs(canvas, trend)
    canvas.add_note(_note(trend, sum(few)))
    axes.set_ylabel(f"{trend.phase}, {scale.unit}")
    axes.set_title(fit(visible(trend.name), 2 * LONGEST_NAME), loc="left", pad=14)
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)


def _axis(trend: Trend) -> TimeAxis:
    levels = [one.level_ns for one in trend.segments]
    ends = [end for one in trend.points for end in interval_ends(one)]
    return TimeAxis([*(one.estimate_ns for one in trend.points), *levels], ends)


def _note(trend: Trend, few: int) -> str:
    """Returns sentences about the line of the level and hollow dots."""
    parts = "between change points" if len(trend.segments) > 1 else "of all runs, which have no change point"
    note = f"Grey line: level, the geometric mean {parts}."
    if len(trend.points) < _LEAST_FOR_CHANGES:
        note += f" Change points need {_LEAST_FOR_CHANGES} runs."
    if few:
        note += f" Hollow dot: fewer than {_LEAST_FOR_INTERVAL} processes, so that there is no interval."
    return note


def interval_ends(point: TrendPoint) -> tuple[float | None, float | None]:
    """Returns the ends of a point's interval; None for too few processes."""
    enough = point.n_processes >= _LEAST_FOR_INTERVAL
    return (point.ci_low_ns, point.ci_high_ns) if enough else (None, None)


def point_text(point: TrendPoint, scale: Scale) -> str:
    """Formats the time of a point with its interval."""
    return estimate_with_interval(point.estimate_ns, *interval_ends(point), scale.ns)


def commit_text(point: TrendPoint) -> str:
    """Returns the start of the commit, with a mark for changed files."""
    return "" if point.commit is None else f"{point.commit[:_DIGITS]}{'-dirty' if point.dirty else ''}"


def _run_text(point: TrendPoint) -> str:
    parts = (f"@{point.run_id[:12]}", point.started_utc[:_DATE], commit_text(point), *point.tags)
    return " ".join(filter(None, parts))


def _draw_levels(canvas: Canvas, trend: Trend, scale: Scale) -> None:
    """Draws the level of each segment, the spread around it, and change points."""
    for one in trend.segments:
        ends, level = (one.begin - 0.5, one.end - 0.5), one.level_ns / scale.ns
        if trend.session_stddev is not None:
            low, high = level * (1 - trend.session_stddev), level * (1 + trend.session_stddev)
            canvas.axes.fill_between(ends, low, high, color=canvas.theme.band, linewidth=0)
        canvas.axes.plot(ends, (level, level), color=canvas.theme.muted, linewidth=1.0)
        if one.begin:
            canvas.axes.axvline(one.begin - 0.5, color=canvas.color(1), linestyle="--", linewidth=1.2)


def _mark_tags(canvas: Canvas, trend: Trend) -> None:
    transform = canvas.axes.get_xaxis_transform()
    labelled = None
    for place, one in enumerate(trend.points):
        if not one.tags:
            continue
        canvas.axes.axvline(place, color=canvas.theme.rule, linewidth=1.0, zorder=0)
        # The texts of neighbours would lie on each other; the table has all tags.
        if labelled is None or place - labelled >= _LEAST_SHARE * len(trend.points):
            text = fit(visible(" ".join(one.tags)), _LONGEST_TAGS)
            canvas.axes.text(place, 1.01, text, ha="center", va="bottom", fontsize="small", transform=transform)
            labelled = place


def _label_runs(canvas: Canvas, trend: Trend) -> None:
    """Labels some runs with date and commit, the first and the last among them.

    Runs of one day have their time too.
    """
    points, axes = trend.points, canvas.axes
    last = len(points) - 1
    room = axes.bbox.width * _POINTS_PER_INCH / axes.figure.dpi / _LABEL_WIDTH
    count = max(2, min(_MOST_LABELS, last + 1, int(room)))
    places = sorted({round(number * last / (count - 1)) for number in range(count)})
    has_time = len({one.started_utc[:_DATE] for one in points}) < len(points)
    has_commit = any(one.commit for one in points)
    labels = []
    for one in (points[place] for place in places):
        lines = [one.started_utc[:_DATE]]
        lines += [one.started_utc[_DATE + 1 : _MINUTE]] * has_time + [(one.commit or "")[:_DIGITS]] * has_commit
        labels.append("\n".join(map(visible, lines)))
    axes.set_xticks(places, labels)
    axes.set_xlim(-0.5, last + 0.5)
    axes.set_xlabel(f"run: date{', time (UTC)' * has_time}{' and commit' * has_commit}")
