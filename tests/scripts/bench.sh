#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The benchmark's scripts, on figures that are made up: what they draw is what
# was measured, and the picture in doc/ shows the readings.

. "$top_srcdir/tests/scripts/lib.sh"

have python3 || skip_all "python3 was not found"

bench=$top_srcdir/bench
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# A results file, of two rounds.
cat >"$scratch/make.py" <<'EOT'
import json, sys
peers = ["floor-stack", "floor-ring", "dpdk-user", "dpdk-lcore", "glibc",
         "ashlar-shared", "ashlar-shared-unchecked", "ashlar-cache",
         "jemalloc-malloc", "mimalloc-small", "tcmalloc-malloc", "tbb"]
cells = [f"{p} {n}" for p in ("1t", "pc") for n in (1, 32, 256, 4096)]
cells += [f"run {n}" for n in (1, 8, 64, 256, 1000, 4096)]
samples = {}
for i, peer in enumerate(peers):
    samples[peer] = {c: {"ns": [2 ** (i + j % 4), 4 ** i]}
                     for j, c in enumerate(cells)}
facts = {"hands_over": "1", "version": "", "optimized": "1", "compiler": "x"}
json.dump({"machine": dict.fromkeys(["date", "processor", "processors",
           "virtual", "kernel", "page_bytes", "transparent_huge_pages",
           "libc"], "x"),
           "settings": {"rounds": 2, "window_ms": 1, "flags": ""},
           "absent": {}, "failed": {}, "peers": dict.fromkeys(peers, facts),
           "samples": samples}, open(sys.argv[1], "w"))
EOT

# What a picture has: each line's name and its number of points, by panel.
cat >"$scratch/look.py" <<'EOT'
import sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == svg + "svg", root.tag
for group in root.iter(svg + "g"):
    name, _, figures = group.find(svg + "title").text.partition(": ")
    points = group.find(svg + "polyline").get("points").split()
    circles = group.findall(svg + "circle")
    assert len(points) == len(circles) == len(figures.split(", ")), name
    print(name, len(points))
EOT

all_lines_are_drawn() {
  python3 "$bench/draw.py" "$scratch/figures.json" "$scratch/one.svg" &&
    python3 "$scratch/look.py" "$scratch/one.svg" >"$scratch/drawn" || return
  for panel in 4 4 6; do
    for line in glibc TBB jemalloc mimalloc tcmalloc 'DPDK mempool' ashlar \
      'ashlar, unchecked' floor; do
      [ "$panel $line" = '6 floor' ] || echo "$line $panel"
    done
  done >"$scratch/wanted"
  same "$scratch/wanted" "$scratch/drawn"
}

same_figures_draw_the_same() {
  python3 "$bench/draw.py" "$scratch/figures.json" - >"$scratch/again.svg" &&
    same "$scratch/one.svg" "$scratch/again.svg"
}

# The fastest way of a family is drawn: the lower of two peers' figures.
fastest_way_is_drawn() {
  python3 - "$bench" "$scratch/figures.json" <<'EOT'
import sys
sys.path.insert(0, sys.argv[1])
import draw, figures
results = figures.read(sys.argv[2])
line = next(line for line in draw.LINES if line.name == "DPDK mempool")
points = draw.points_of(results, draw.PANELS[0], line)
assert points[0] == (0, results.figure("dpdk-user", "1t 1")), points
floor = draw.points_of(results, draw.PANELS[1], draw.LINES[-1])
assert floor[0] == (0, results.figure("floor-ring", "pc 1")), floor
EOT
}

# Written as Markdown and read again, but for what rounding takes away.
readings_are_read_again() {
  python3 - "$bench" "$scratch/figures.json" "$scratch/readings.md" <<'EOT'
import sys
sys.path.insert(0, sys.argv[1])
import figures, report
results = figures.Results(sys.argv[2])
with open(sys.argv[3], "w") as file:
    file.write("<!-- readings: begin -->\n<!-- readings: end -->\n")
report.update(sys.argv[3], report.whole_report(results, True, True))
readings = figures.read(sys.argv[3])
assert sorted(readings.peers) == sorted(results.peers), readings.peers
for peer in results.peers:
    for cell in results.samples[peer]:
        wrote, read = results.figure(peer, cell), readings.figure(peer, cell)
        assert abs(wrote - read) <= wrote / 100, (peer, cell, wrote, read)
EOT
}

nothing_measured_is_refused() {
  python3 - "$scratch/figures.json" "$scratch/none.json" <<'EOT' || return
import json, sys
data = json.load(open(sys.argv[1]))
data["samples"] = {}
json.dump(data, open(sys.argv[2], "w"))
EOT
  if python3 "$bench/draw.py" "$scratch/none.json" "$scratch/none.svg" \
    2>"$scratch/error"; then
    echo "it drew a picture of nothing"
    return 1
  fi
  grep 'none.json: nothing to draw' "$scratch/error" &&
    [ ! -e "$scratch/none.svg" ]
}

picture_shows_the_readings() {
  python3 "$bench/draw.py" "$top_srcdir/doc/measurements.md" - \
    >"$scratch/readings.svg" &&
    same "$scratch/readings.svg" "$top_srcdir/doc/speed.svg"
}

python3 "$scratch/make.py" "$scratch/figures.json" || exit 1

expect picture_has_every_line_in_every_panel all_lines_are_drawn
expect same_figures_make_the_same_picture same_figures_draw_the_same
expect picture_shows_the_fastest_way_of_a_family fastest_way_is_drawn
expect readings_in_markdown_are_the_figures readings_are_read_again
expect picture_of_nothing_is_refused nothing_measured_is_refused
expect picture_in_doc_shows_the_readings_beside_it picture_shows_the_readings
finish
