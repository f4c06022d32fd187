#!/bin/sh
# Writes the files of this folder anew, with the tools of the day. See README.md.
#
# Needs unshare (as root), /usr/bin/python3 with venv, pip, and the hyperfines that README.md builds.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
HYPERFINES=${HYPERFINES:?give the folder of the hyperfines}

# A host name and a folder that say nothing of who ran this: most of the tools write both.
if [ "${1:-}" != inside ]; then
    exec unshare --uts sh -c 'hostname demo && HYPERFINES=$2 exec sh "$1" inside' sh "$here/make.sh" "$HYPERFINES"
fi

rm -rf /tmp/demo
mkdir /tmp/demo
cd /tmp/demo
/usr/bin/python3 -m venv --without-pip venv
python3 -m pip --python venv/bin/python install --quiet \
    pyperf==2.10.0 pytest==9.2.0 pytest-benchmark==5.3.1 google-benchmark==1.9.5
cp "$here"/programs/* .
mkdir out
python=venv/bin/python

# pyperf: two benchmarks in fresh processes; and one whose values are bytes beside one whose values are seconds.
$python timed_pyperf.py --processes 4 --values 5 --warmups 1 --min-time 0.002 --quiet --output out/pyperf.json
$python timed_pyperf.py --only sorted --processes 3 --values 2 --min-time 0.002 --quiet --output out/pyperf_memory.json
$python timed_pyperf.py --only allocated --tracemalloc --processes 3 --values 2 --loops 1 --quiet \
    --append out/pyperf_memory.json
mkdir out/reference
$python reference_pyperf.py out/pyperf.json > out/reference/pyperf.json

# pytest-benchmark: the JSON with every sample, and the saved one without.
options="--benchmark-min-time=0.0002 --benchmark-max-time=0.003 --benchmark-min-rounds=5 -q -p no:cacheprovider"
$python -m pytest $options timed_pytest.py --benchmark-json=out/pytest_benchmark.json
$python -m pytest $options timed_pytest.py --benchmark-save=x --benchmark-storage=saved
cp saved/*/0001_x.json out/pytest_benchmark_summary.json

# hyperfine: named and parametrised commands; a file of the older layout, an even older one, and runs that fail.
hyperfine() { version=$1; shift; "$HYPERFINES/$version/bin/hyperfine" --style none "$@" > out/log 2>&1; }
hyperfine 2.0 -r 8 -w 1 -L n 1,400000 -n 'count to {n}' 'seq {n}' --export-json out/hyperfine_2.0.json
hyperfine 2.0 -r 4 -N -i 'true' 'false' --export-json out/hyperfine_2.0_failures.json
hyperfine 1.20 -r 8 -w 1 -N -L n 1,400000 'seq {n}' --export-json out/hyperfine_1.20.json
hyperfine 1.20 -r 4 -i -N 'true' 'false' 'sh -c "kill -9 $$"' --export-json out/hyperfine_1.20_failures.json
hyperfine 1.20 -r 3 -L branch main,topic -N 'true' --export-json out/hyperfine_1.20_same_command.json
hyperfine 1.19 -r 4 -N 'true' --export-json out/hyperfine_1.19.json
rm out/log

# google-benchmark: repetitions with their aggregates, and the aggregates alone.
flags="--benchmark_min_time=0.002s --benchmark_repetitions=5 --benchmark_out_format=json"
$python timed_google.py $flags --benchmark_out=out/google_benchmark.json
$python timed_google.py $flags --benchmark_report_aggregates_only=true \
    --benchmark_out=out/google_benchmark_aggregates.json

cp -R out/* "$here"
