#!/usr/bin/env python3
"""How long windows take to show something, and what they hold in memory, side by side.

    measure_window.py [--runs N] [--settle SECONDS] NAME=BINARY=SELECTOR ...

Each binary is a Tauri program. It is started through WebKitWebDriver, in turns with the others, and timed from its
process's start until SELECTOR (CSS) is in its page and laid out; then, after some idle seconds, the PSS of all its
processes and the processor time that it used meanwhile are read. The first program is what the others are compared with:
give an empty one. Needs a display, WebKitWebDriver and Linux's /proc; the environment (HOME, RECOLLECT_HOME) is passed on.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


def stat(process):
    """The fields after the command's name."""
    with open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def family(root):
    """A process and all below it."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            children.setdefault(int(stat(name)[1]), []).append(int(name))
        except OSError:
            continue
    found, left = [], [root]
    while left:
        process = left.pop()
        found.append(process)
        left.extend(children.get(process, []))
    return found


def started(process):
    """Seconds since the machine's start."""
    return int(stat(process)[19]) / TICKS


def uptime():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def processor(processes):
    return sum(int(stat(process)[11]) + int(stat(process)[12]) for process in processes) / TICKS


def pss(processes):
    total = 0
    for process in processes:
        with open(f"/proc/{process}/smaps_rollup") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return total / 1024


def run(binary, selector, settle):
    port = free_port()
    environment = {**os.environ, "TAURI_AUTOMATION": "true", "TAURI_WEBVIEW_AUTOMATION": "true"}
    driver = subprocess.Popen(["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"], env=environment)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                ask(f"{base}/status")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.02)
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": {"binary": binary, "args": []}}}
        session = ask(f"{base}/session", {"capabilities": wanted})["sessionId"]
        page = f"{base}/session/{session}"
        look = "const e = document.querySelector(arguments[0]); return e !== null && e.getClientRects().length > 0;"
        while not ask(f"{page}/execute/sync", {"script": look, "args": [selector]}):
            time.sleep(0.005)
        shown = uptime()
        app = next(process for process in family(driver.pid) if os.readlink(f"/proc/{process}/exe") == os.path.realpath(binary))
        milliseconds = (shown - started(app)) * 1000
        processes = family(app)
        time.sleep(settle)
        before, processes = processor(processes), family(app)
        time.sleep(settle)
        idle = (processor(processes) - before) / settle * 100
        memory = pss(processes)
        ask(page, method="DELETE")
        return milliseconds, memory, idle
    finally:
        driver.terminate()
        driver.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--settle", type=float, default=10)
    arguments.add_argument("program", nargs="+")
    given = arguments.parse_args()
    programs = [program.split("=", 2) for program in given.program]
    measured = {name: [] for name, _, _ in programs}
    for _ in range(given.runs):
        for name, binary, selector in programs:
            measured[name].append(run(binary, selector, given.settle))
    first = None
    for name, figures in measured.items():
        medians = [statistics.median(column) for column in zip(*figures)]
        spread = [(min(column), max(column)) for column in zip(*figures)]
        first = first or medians
        print(
            f"{name}: shown {medians[0]:.0f} ms ({spread[0][0]:.0f}–{spread[0][1]:.0f}), {medians[0] / first[0]:.2f} x; "
            f"PSS {medians[1]:.0f} MiB ({spread[1][0]:.0f}–{spread[1][1]:.0f}), {medians[1] / first[1]:.2f} x; "
            f"idle {medians[2]:.1f} % of a core"
        )


if __name__ == "__main__":
    main()
