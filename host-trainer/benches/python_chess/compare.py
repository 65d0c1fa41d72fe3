"""Packs the first games of a PGN file with `kibitzer pack` and with python-chess, and compares
counts and processor time.

usage: compare.py KIBITZER GAMES.pgn[.zst] [NUMBER OF GAMES] [ROUNDS]

Either does the same: read the games, play their moves, leave out games without a result and games
that come again, and count for each different position how often each move was played and how the
games ended. Needs Python 3 with `chess`, and the program zstd for compressed games. The product
needs none of this.
"""
import collections
import io
import os
import resource
import subprocess
import sys
import tempfile

import chess
import chess.pgn


def first_games(path, number):
    """The text of the first games of a file."""
    if path.endswith(".zst"):
        source = subprocess.Popen(["zstd", "-dcq", "--long=31", path], stdout=subprocess.PIPE)
        lines = source.stdout
    else:
        lines = open(path, "rb")
    text, games, in_tags = [], 0, False
    for line in lines:
        if line.startswith(b"[") and not in_tags:
            games += 1
            if games > number:
                break
        in_tags = line.startswith(b"[")
        text.append(line)
    return b"".join(text)


def with_python(text):
    """Counts by python-chess: games, moves, different positions, different moves in them."""
    stream = io.StringIO(text.decode("utf-8", "replace"))
    seen = set()
    played = collections.defaultdict(collections.Counter)
    results = collections.defaultdict(collections.Counter)
    games = moves = 0
    while (game := chess.pgn.read_game(stream)) is not None:
        result = game.headers.get("Result")
        line = list(game.mainline_moves())
        if game.errors or not line or result not in ("1-0", "0-1", "1/2-1/2"):
            continue
        if tuple(line) in seen:
            continue
        seen.add(tuple(line))
        games += 1
        board = game.board()
        for move in line:
            key = board._transposition_key()
            played[key][move] += 1
            results[key][result] += 1
            moves += 1
            board.push(move)
    different = sum(len(counter) for counter in played.values())
    return games, moves, len(played), different


def with_kibitzer(kibitzer, path):
    """The same counts from the file that `kibitzer pack` writes, and the time that it took."""
    output = path + ".records"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([kibitzer, "-q", "pack", path, "-o", output, "--held-out", "0"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(output, "rb") as file:
        data = file.read()
    number = lambda at, size: int.from_bytes(data[at : at + size], "little")
    records, entries, games = number(16, 8), number(24, 8), number(32, 8)
    moves = sum(number(64 + 64 * i + at, 4) for i in range(records) for at in (40, 44, 48))
    listed = sum(data[64 + 64 * i + 59] > 1 for i in range(records))
    os.remove(output)
    return (games, moves, records, entries + records - listed), used


def main():
    kibitzer, games = sys.argv[1:3]
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    text = first_games(games, number)
    best = {"kibitzer": float("inf"), "python-chess": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "games.pgn")
        with open(path, "wb") as file:
            file.write(text)
        for _ in range(rounds):
            ours, used = with_kibitzer(kibitzer, path)
            best["kibitzer"] = min(best["kibitzer"], used)
            before = resource.getrusage(resource.RUSAGE_SELF)
            theirs = with_python(text)
            after = resource.getrusage(resource.RUSAGE_SELF)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best["python-chess"] = min(best["python-chess"], used)
    names = ("games", "moves", "different positions", "different moves in them")
    for name, our, their in zip(names, ours, theirs):
        print(f"{name:24} {our:>10} {their:>10} {'equal' if our == their else 'DIFFERENT'}")
    for name, used in best.items():
        print(f"{name:24} {used:10.3f} s of a processor, {ours[1] / used:12.0f} moves a second")
    print(f"ratio {best['python-chess'] / best['kibitzer']:.1f}")
    sys.exit(ours != theirs)


main()
