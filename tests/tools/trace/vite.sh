#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Opens a trace in ViTE on a virtual display and saves a picture of its window. Fails unless ViTE reads the trace without
# complaints, the window shows containers and states, and the export to SVG draws them, too. If the trace has links, both must
# draw arrows, the export one for each link. With LINKS, the trace must have that number of them.
# usage: tests/tools/trace/vite.sh PAJE_TRACE PICTURE.png [LINKS]
set -euo pipefail
size=(1366 768)  # of a small laptop, on which names must be readable

die() {
  printf 'vite.sh: %s\n' "$*" >&2
  exit 1
}

[[ $# -eq 2 || $# -eq 3 ]] || die "usage: tests/tools/trace/vite.sh PAJE_TRACE PICTURE.png [LINKS]"
for program in vite xvfb-run xauth import xdotool; do
  command -v "$program" >/dev/null || die "$program is not installed: install vite xvfb xauth libgl1-mesa-dri imagemagick xdotool"
done
trace=$(realpath "$1") picture=$(realpath "$2")
[[ -s $trace ]] || die "$1 does not exist or is empty"
links=$(awk '$1 == "%EventDef" && $2 == "PajeStartLink" { kind = $3 } kind != "" && $1 == kind { n++ } END { print n + 0 }' "$trace")
[[ $links -eq ${3:-$links} ]] || die "$1 has $links links, not $3"

# ViTE writes to the user's settings, and a log.txt to the folder in which it starts.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/home" "$scratch/runtime"
cd "$scratch"
export HOME=$scratch/home XDG_RUNTIME_DIR=$scratch/runtime LIBGL_ALWAYS_SOFTWARE=1 QT_LOGGING_RULES='*=false'
export LC_ALL=C  # the numbers of a trace have points

# --- Inside the display: waits for the window, and until its picture no longer changes --------------------------------
show() {
  vite "$trace" &>messages &
  local vite=$! window i before=none now
  window=$(timeout 120 xdotool search --sync --onlyvisible --name 'ViTE ::' | tail -n 1) || return 1
  xdotool windowmove "$window" 0 0 windowsize "$window" "${size[@]}"
  for ((i = 0; i < 60; i++)); do
    sleep 1
    kill -0 "$vite" || return 1
    import -window root shown.png
    now=$(identify -format '%#' shown.png)
    if [[ $now == "$before" ]] && seen shown.png; then break; fi
    before=$now
  done
  if [[ $links -gt 0 ]]; then  # the picture without arrows, to compare
    xdotool mousemove 441 42 click 1  # No arrows
    for ((i = 0; i < 60; i++)); do
      sleep 1
      import -window root without.png
      [[ $(arrow_pixels) -le 2000 ]] || break
    done
  fi
  kill "$vite"
  wait "$vite" 2>/dev/null || true
}

# Containers are dark blue, and the states to their right are coloured; widgets and axis are grey, black, white and blue.
seen() {
  local blue coloured
  blue=$(convert "$1" -crop 25%x80%+0+150 -depth 8 -format %c histogram:info:- |
    awk -F'[:(,) ]+' '$3 == 0 && $4 == 0 && $5 > 60 && $5 < 170 { n += $2 } END { print n + 0 }')
  coloured=$(convert "$1" -gravity east -crop 75%x80%+0+0 -colorspace HSL -channel G -separate +channel \
    -threshold 40% -format '%[fx:int(mean*w*h)]' info:)
  [[ $blue -gt 10000 && $coloured -gt 2000 ]]
}

# Pixels of the trace that change when arrows are hidden. The toolbar is above them.
arrow_pixels() {
  compare -metric AE -extract "${size[0]}x$((size[1] - 100))+0+100" shown.png without.png null: 2>&1 || true
}

declare -f show seen arrow_pixels >inside
declare -p trace size links >>inside
timeout 400 xvfb-run --auto-servernum --server-args="-screen 0 ${size[0]}x${size[1]}x24" \
  bash -c 'source ./inside; show' || die "ViTE shows no window: $(tail -n 1 messages)"
[[ ! -e log.txt ]] || die "ViTE complains: $(grep -v '^$' log.txt | tail -n 1)"
cp shown.png "$picture"
seen shown.png || die "$2 shows no containers, or no states"
[[ $links -eq 0 || $(arrow_pixels) -gt 2000 ]] || die "$2 shows no arrows"

timeout 120 xvfb-run --auto-servernum vite -e exported.svg "$trace" &>messages || true
rectangles=$(grep -o '<rect' exported.svg 2>/dev/null | wc -l)
[[ $rectangles -gt 20 ]] || die "vite -e draws $rectangles rectangles: $(tail -n 1 messages)"
arrows=$(grep -o '<polygon' exported.svg | wc -l) || true  # their heads
[[ $arrows -eq $links ]] || die "vite -e draws $arrows arrows for $links links"
echo "$2: $(identify -format '%wx%h, %k colours' "$picture"); exported: $rectangles rectangles, $arrows arrows"
