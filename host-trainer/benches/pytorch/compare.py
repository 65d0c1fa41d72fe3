"""Positions a second: the CPU backend against PyTorch running the reference model.

    cargo build --release -p kibitzer-trainer --example pace
    python3 host-trainer/benches/pytorch/compare.py

Both get the same parameters and the same batch, and the losses of their steps are compared first.
Then they take turns, so that whatever else the machine does falls on both; the ratio is that of
their best times. Needs torch, numpy and safetensors; nothing of Kibitzer does.
"""
import argparse, os, pathlib, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "fixtures" / "reference"))
import numpy as np
import torch
from safetensors.numpy import save_file
import kibitzer_torch as reference

LEGAL = 35                      # legal moves of a position, about as many as in a middlegame
VALUE_WEIGHT, CLIP = 0.25, 1.0
SMALL = dict(heads=4, trunk="ASSA", ssm_state=16, ssm_rank=8, perspective="mover", policy_head="from_to", attention_bias=True)
NETWORKS = dict(full=(reference.FULL, 64),
                w128=(reference.Config(width=128, **SMALL), 128),
                w64=(reference.Config(width=64, **SMALL), 256))


def make_batch(n, seed):
    rng = np.random.default_rng(seed)
    moves = np.array([m for m in range(reference.MOVES) if reference.destination(m) is not None])
    legal = np.concatenate([np.sort(rng.choice(moves, LEGAL, replace=False)) for _ in range(n)])
    policy = rng.random((n, LEGAL), np.float32)
    return dict(tokens=rng.integers(0, 13, (n, 64), np.uint8), aux=rng.random((n, 7), np.float32),
                legal_offsets=np.arange(n + 1, dtype=np.uint32) * LEGAL, legal=legal.astype(np.uint16),
                target_policy=(policy / policy.sum(1, keepdims=True)).reshape(-1),
                target_value=rng.uniform(-1, 1, n).astype(np.float32))


class Torch:
    def __init__(self, model, batch):
        n = len(batch["target_value"])
        self.model = model
        self.tokens = torch.from_numpy(batch["tokens"].astype(np.int64))[:, None]
        self.aux = torch.from_numpy(batch["aux"])[:, None]
        rows = np.repeat(np.arange(n), LEGAL)
        self.legal = torch.zeros(n, 1, reference.MOVES, dtype=torch.bool)
        self.legal[rows, 0, batch["legal"].astype(np.int64)] = True
        self.policy = torch.zeros(n, 1, reference.MOVES)
        self.policy[rows, 0, batch["legal"].astype(np.int64)] = torch.from_numpy(batch["target_policy"])
        self.value = torch.from_numpy(batch["target_value"])[:, None]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01)

    def run(self, what, rounds):
        loss, start = 0.0, time.perf_counter()
        for _ in range(rounds):
            loss = self.train() if what == "train" else self.forward()
        return time.perf_counter() - start, loss

    def forward(self):
        with torch.inference_mode():
            self.model(self.tokens, self.aux)
        return 0.0

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        policy, value = self.model(self.tokens, self.aux)
        loss = reference.loss(policy, value, self.legal, self.policy, self.value, VALUE_WEIGHT)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        return loss.item()


class Kibitzer:
    def __init__(self, pace, model, batch, threads):
        environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
        self.process = subprocess.Popen([pace, model, batch], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def run(self, what, rounds):
        print(what, rounds, file=self.process.stdin, flush=True)
        seconds, loss = map(float, self.process.stdout.readline().split())
        return seconds, loss

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(name, what, batch_size, arguments):
    config, default = NETWORKS[name]
    size = batch_size or default
    torch.manual_seed(1)
    model, batch = reference.Kibitzer(config), make_batch(size, 1)
    with tempfile.TemporaryDirectory() as folder:
        files = [str(pathlib.Path(folder, f"{part}.safetensors")) for part in ("model", "batch")]
        reference.save(model, files[0])
        save_file(batch, files[1])
        ours, theirs = Kibitzer(arguments.pace, *files, arguments.threads), Torch(model, batch)
        if what == "train":
            for tolerance in (1e-4, 1e-2, 1e-2):        # AdamW's first steps take the sign of rounding where a gradient is 0
                a, b = ours.run("train", 1)[1], theirs.run("train", 1)[1]
                assert abs(a - b) < tolerance, f"the losses differ: {a} and {b}"
        rounds = max(1, round(arguments.seconds / max(theirs.run(what, 1)[0], ours.run(what, 1)[0])))
        times = [(ours.run(what, rounds)[0], theirs.run(what, rounds)[0]) for _ in range(arguments.turns)]
        ours.close()
    pace = [size * rounds / min(column) for column in zip(*times)]
    print(f"{name:5} {what:8} batch {size:4}  kibitzer {pace[0]:8.1f}/s  pytorch {pace[1]:8.1f}/s  ratio {pace[0] / pace[1]:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pace", default=str(ROOT / "target" / "release" / "examples" / "pace"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long a turn takes")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for name in arguments.networks:
        compare(name, "train", None, arguments)
        compare(name, "forward", None, arguments)
        compare(name, "forward", 1, arguments)


if __name__ == "__main__":
    main()
