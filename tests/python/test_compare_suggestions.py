"""Commands that a comparison between sessions suggests, to settle it in one session."""

from __future__ import annotations

from dataclasses import replace

from run_files import CARD, ENVIRONMENT, PROBLEM
from test_compare_sessions import hint, past_run

from fastrnns_rs import compare
from fastrnns_rs.documents.run_file import Run, Stop, Warmup


def test_the_command_that_settles_it() -> None:
    first, second = past_run("a", 1000), past_run("b", 1200)

    def with_variables(**variables: str) -> Run:
        return replace(second, environment=replace(ENVIRONMENT, variables=variables))

    shown = "fastrnns-rs ab cudnn --seq-length 16 --input-size 64 --hidden-size 64 --mini-batch 4"
    assert hint(first, with_variables(OMP_WAIT_POLICY="ACTIVE")) == f"{shown} --b-env OMP_WAIT_POLICY=ACTIVE"
    own = with_variables(FASTRNNS_HISTORY="elsewhere", OMP_WAIT_POLICY="ACTIVE")
    assert hint(first, own) == f"{shown} --b-env OMP_WAIT_POLICY=ACTIVE"
    assert hint(with_variables(A="1 2"), past_run("c", 900)) == f"{shown} --a-env 'A=1 2'"
    threads = replace(second, plan=replace(second.plan, threads=1), environment=replace(ENVIRONMENT, num_threads=1))
    assert hint(first, threads) == f"{shown} --b '--threads 1'"
    newer = replace(ENVIRONMENT, torch_version="2.16.0", python_executable="/new/bin/python")
    older = replace(first, environment=replace(ENVIRONMENT, python_executable="/old/bin/python"))
    python = hint(older, replace(second, environment=newer))
    assert python == f"{shown} --a-python /old/bin/python --b-python /new/bin/python"
    jit = replace(second.plan.jit, fuser="none")
    several = replace(threads, plan=replace(threads.plan, jit=jit))
    assert hint(first, several) == f"{shown} --a '--fuser te' --b '--threads 1 --fuser none'"
    # Options of both are options of the command.
    common = [replace(one, plan=replace(one.plan, threads=1, jit=jit)) for one in (first, with_variables(A="1"))]
    assert hint(*common) == f"{shown} --threads 1 --fuser none --b-env A=1"
    more = {"affinity": [0, 1], "warmup": Warmup(mode="fixed", iterations=3)}
    common = [replace(one, plan=replace(one.plan, **more)) for one in (first, with_variables(A="1"))]
    assert hint(*common) == f"{shown} --affinity 0,1 --warmup 3 --b-env A=1"
    for count in (1e6, 1234567.0):
        stop = Stop(rule="count", parameters={"nloops": count})
        common = [replace(one, plan=replace(one.plan, stop=stop)) for one in (first, with_variables(A="1"))]
        assert hint(*common) == f"{shown} --nloops {count:.0f} --b-env A=1"
    command = ["fastrnns-rs", "bench", "--runner-file", "my runners.py", "cudnn"]
    of_a_file = shown.replace("cudnn", "cudnn --runner-file 'my runners.py'")
    assert hint(first, replace(with_variables(A="1"), command=command)) == f"{of_a_file} --b-env A=1"
    # Where there is a GPU, `ab` would measure it.
    cards = replace(ENVIRONMENT, gpus=[CARD])
    on_cpu = shown.replace("cudnn", "cudnn --device cpu")
    changed = replace(cards, variables={"A": "1"})
    assert hint(replace(first, environment=cards), replace(second, environment=changed)) == f"{on_cpu} --b-env A=1"
    on_second = [
        replace(
            one,
            environment=known,
            results=[replace(one.results[0], problem=replace(PROBLEM, device="cuda:1"), timing_mode="cuda_events")],
        )
        for one, known in ((first, cards), (second, changed))
    ]
    assert hint(*on_second).startswith("fastrnns-rs ab cudnn --device cuda:1 --seq-length 16 ")
    by_phase = [
        replace(one, results=[replace(one.results[0], timing_mode="cuda_events_by_phase")]) for one in on_second
    ]
    assert " --sync phase --b-env A=1" in hint(*by_phase)
    sessions = "fastrnns-rs bench --sessions 3"
    for other in (
        second,
        replace(second, environment=replace(ENVIRONMENT, torch_version="2.16.0")),
        replace(with_variables(A="1"), results=[replace(one, source_sha256="b" * 64) for one in second.results]),
        replace(with_variables(A="1"), environment=replace(ENVIRONMENT, cpu_model="another", variables={"A": "1"})),
    ):
        assert hint(first, other) == sessions


def test_the_command_that_settles_it_keeps_the_margin() -> None:
    sides = past_run("a", 1000), past_run("b", 1200)
    other = replace(sides[1], environment=replace(ENVIRONMENT, variables={"A": "1"}))
    [warning] = [one for one in compare(sides[0], other, margin=0.02).warnings if one.code == "one_session"]
    assert (warning.hint or "").endswith(" --b-env A=1 --margin 0.02")


def test_the_hint_of_a_comparison_names_all_runners_it_can_settle() -> None:
    """Rows of changed code, and of another problem than the largest change, are not part of the command."""

    def made(name: str, sources: str, variables: dict[str, str]) -> Run:
        one = past_run(name, 1000 if not variables else 1200)
        results = [
            replace(one.results[0], runner=f"r{number}", source_sha256=source) for number, source in enumerate(sources)
        ]
        other = replace(results[0], runner="wide", problem=replace(results[0].problem, hidden_size=99))
        environment = replace(one.environment, variables=variables)
        return replace(one, results=[*results, other], environment=environment)

    first, second = made("a", "xyz", {}), made("b", "xwz", {"A": "1"})
    shown = hint(first, second)
    assert shown.startswith("fastrnns-rs ab r0 r2 --seq-length 16 ")
    assert shown.endswith("--mini-batch 4 --b-env A=1")
