"""The benchmarks' models in PyTorch, as fast as it goes there; against_torch runs this.

Without --settings it tries every way it knows (attention, optimizer, compiled or not, and the ways to use bfloat16)
and prints the fastest as one JSON line. With --settings, a JSON object from such a line, it waits for lines "go N"
and answers each with the median time of N units: training steps, or batches scored by importance.
"""

import argparse
import itertools
import json
import math
import os
import resource
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

MODELS = {
    "char": dict(layers=4, heads=4, width=128, inner=512, length=64, batch=12, symbols=65, activation=F.gelu),
    "gpt384": dict(layers=6, heads=6, width=384, inner=1536, length=256, batch=16, symbols=65, activation=F.gelu),
    "cls": dict(layers=2, heads=4, width=64, inner=256, length=32, batch=32, symbols=2000, classes=2, activation=F.relu),
}
NEW = hasattr(F, "scaled_dot_product_attention")


class Attention(nn.Module):
    """Self-attention; `way` says through which functions of the library."""

    def __init__(self, shape, dropout):
        super().__init__()
        self.heads, self.dropout, self.causal = shape["heads"], dropout, "classes" not in shape
        self.head_width = shape["width"] // self.heads
        self.project = nn.Linear(shape["width"], 3 * shape["width"])
        self.out = nn.Linear(shape["width"], shape["width"])
        self.way, self.seen = "matmul", None

    def split(self, x):
        batch, length, _ = x.shape
        return self.project(x).view(batch, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x, hidden_keys, gate=None):
        batch, length, width = x.shape
        rate = self.dropout if self.training else 0.0
        mask = hidden_keys if self.causal else None
        if self.way == "mha":
            turned = x.transpose(0, 1)
            more = {"is_causal": True} if NEW and self.causal else {}
            y, _ = F.multi_head_attention_forward(
                turned, turned, turned, width, self.heads, self.project.weight, self.project.bias, None, None, False,
                self.dropout, self.out.weight, self.out.bias, training=self.training, need_weights=False,
                attn_mask=mask, **more)
            return y.transpose(0, 1)
        q, k, v = self.split(x)
        pattern = None
        if self.way == "sdpa" and NEW:
            context = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=self.causal)
        elif self.way == "sdpa":
            context, pattern = F._scaled_dot_product_attention(q, k, v, mask, rate, not self.training, False)
        elif self.way == "baddbmm":
            flat = [t.reshape(batch * self.heads, length, self.head_width) for t in (q, k, v)]
            start = q.new_empty(1, 1, 1) if mask is None else mask
            scores = torch.baddbmm(start, flat[0], flat[1].transpose(1, 2), beta=0 if mask is None else 1,
                                   alpha=1 / math.sqrt(self.head_width))
            pattern = F.softmax(scores, -1)
            context = torch.bmm(F.dropout(pattern, rate, True) if rate else pattern, flat[2])
            context = context.view(batch, self.heads, length, self.head_width)
        else:
            scores = (q * (1 / math.sqrt(self.head_width))) @ k.transpose(-2, -1)
            pattern = F.softmax(scores if mask is None else scores + mask, -1)
            context = (F.dropout(pattern, rate, True) if rate else pattern) @ v
        if gate is not None:
            context = context * gate[:, :, None, None]
        self.seen = (pattern, context)
        return self.out(context.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, shape, dropout):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(shape["width"]), nn.LayerNorm(shape["width"])
        self.attention = Attention(shape, dropout)
        self.inner, self.outer = nn.Linear(shape["width"], shape["inner"]), nn.Linear(shape["inner"], shape["width"])
        self.activation, self.dropout = shape["activation"], dropout

    def forward(self, x, hidden_keys, gate=None):
        x = x + F.dropout(self.attention(self.norm_1(x), hidden_keys, gate), self.dropout, self.training)
        inside = self.activation(self.inner(self.norm_2(x)))
        return x + F.dropout(self.outer(inside), self.dropout, self.training)


class Transformer(nn.Module):
    """Pre-norm, learned positions; a language model with tied output, or a classifier of mean-pooled tokens."""

    def __init__(self, shape, dropout):
        super().__init__()
        self.dropout = dropout
        self.token = nn.Embedding(shape["symbols"], shape["width"])
        self.position = nn.Parameter(0.02 * torch.randn(shape["length"], shape["width"]))
        nn.init.normal_(self.token.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape["layers"]))
        self.norm = nn.LayerNorm(shape["width"])
        self.classify = nn.Linear(shape["width"], shape["classes"]) if "classes" in shape else None
        future = torch.full((shape["length"], shape["length"]), -math.inf).triu(1)
        self.register_buffer("hidden_keys", future)

    def forward(self, tokens, targets, gates=None):
        x = F.dropout(self.token(tokens) + self.position, self.dropout, self.training)
        if not self.training and gates is None:
            x.requires_grad_()  # weights are frozen, but contexts need gradients
        for number, layer in enumerate(self.layers):
            x = layer(x, self.hidden_keys, None if gates is None else gates[number])
        x = self.norm(x)
        logits = self.classify(x.mean(1)) if self.classify else F.linear(x, self.token.weight)
        loss = F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten())
        return loss if self.training else (loss * tokens.shape[0], [layer.attention.seen for layer in self.layers])


def make_batches(shape):
    size = (shape["batch"], shape["length"])
    target_size, target_symbols = ((shape["batch"],), shape["classes"]) if "classes" in shape else (size, shape["symbols"])
    return [(torch.randint(shape["symbols"], size), torch.randint(target_symbols, target_size)) for _ in range(8)]


class Training:
    """Whole steps: gradients cleared, forward, backward, update, loss read."""

    WAYS = ["matmul", "baddbmm", "mha", "sdpa"]

    def __init__(self, arguments, shape, settings):
        torch.manual_seed(1)
        self.batches, self.done = make_batches(shape), 0
        self.model = Transformer(shape, arguments.dropout).train()
        for layer in self.model.layers:
            layer.attention.way = settings["attention"]
        self.precision = settings["precision"]
        self.weights = list(self.model.parameters())
        trained = self.weights
        if self.precision == "bfloat16 weights, float32 master":
            trained = [nn.Parameter(weight.detach().clone()) for weight in self.weights]
            self.model.to(torch.bfloat16)
        self.trained = trained
        self.optimizer = torch.optim.AdamW(trained, lr=3e-4, weight_decay=0.01,
                                           **({} if settings["optimizer"] == "plain" else {settings["optimizer"]: True}))
        self.call = torch.compile(self.model) if settings["compile"] else self.model

    def unit(self):
        tokens, targets = self.batches[self.done % len(self.batches)]
        self.done += 1
        for weight in self.weights:
            weight.grad = None
        if self.precision == "autocast":
            with torch.autocast("cpu", torch.bfloat16):
                loss = self.call(tokens, targets)
        else:
            loss = self.call(tokens, targets)
        loss.backward()
        if self.trained is not self.weights:
            for master, weight in zip(self.trained, self.weights):
                master.grad = weight.grad.float()
        self.optimizer.step()
        if self.trained is not self.weights:
            with torch.no_grad():
                for master, weight in zip(self.trained, self.weights):
                    weight.copy_(master)
        return loss.item()


class Importance:
    """Per sequence and head the derivative of the loss with respect to a gate on the head's context, weights frozen; patterns copied out.

    Either from contexts and their gradients, or by a gate that takes part in the graph.
    """

    WAYS = ["matmul", "baddbmm", "matmul gate", "baddbmm gate"] + ["sdpa"] * (not NEW)

    def __init__(self, arguments, shape, settings):
        torch.manual_seed(1)
        self.batches, self.done = make_batches(shape), 0
        self.model = Transformer(shape, arguments.dropout).eval()
        for weight in self.model.parameters():
            weight.requires_grad_(False)
        way, _, gate = settings["attention"].partition(" ")
        for layer in self.model.layers:
            layer.attention.way = way
        self.by_gate, self.precision = bool(gate), settings["precision"]
        if self.precision == "bfloat16 weights":
            self.model.to(torch.bfloat16)
        self.gates = None
        if self.by_gate:
            size = (shape["layers"], shape["batch"], shape["heads"])
            self.gates = torch.ones(size, dtype=self.model.position.dtype, requires_grad=True)
        kept = torch.bfloat16 if self.precision != "float32" else torch.float32
        square = (shape["batch"], shape["heads"], shape["length"], shape["length"])
        self.patterns = [torch.empty(square, dtype=kept) for _ in range(shape["layers"])]
        self.total = torch.zeros(shape["layers"], shape["heads"])
        self.call = torch.compile(self.model) if settings["compile"] else self.model

    def unit(self):
        tokens, targets = self.batches[self.done % len(self.batches)]
        self.done += 1
        if self.precision == "autocast":
            with torch.autocast("cpu", torch.bfloat16):
                loss, seen = self.call(tokens, targets, self.gates)
        else:
            loss, seen = self.call(tokens, targets, self.gates)
        if self.by_gate:
            (gradients,) = torch.autograd.grad(loss, [self.gates])
        else:
            contexts = [context for _, context in seen]
            slopes = torch.autograd.grad(loss, contexts)
            gradients = torch.stack([(c * g).sum((2, 3)) for c, g in zip(contexts, slopes)])
        self.total += gradients.detach().float().abs().sum(1)
        for kept, (pattern, _) in zip(self.patterns, seen):
            kept.copy_(pattern.detach().view_as(kept))
        return self.total[0, 0].item()


def timed(work, count):
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        work.unit()
        seconds.append(time.perf_counter() - start)
    return seconds


def choices(arguments):
    """Settings to try; those that this version cannot do fail and are passed over."""
    work = Importance if arguments.mode == "importance" else Training
    precisions = ["float32"]
    if arguments.precision == "bfloat16":
        precisions += ["autocast", "bfloat16 weights" if work is Importance else "bfloat16 weights, float32 master"]
    for precision, way in itertools.product(precisions, work.WAYS):
        yield {"attention": way, "optimizer": "foreach", "compile": False, "precision": precision}


def name_of(settings):
    parts = [settings["attention"], settings["optimizer"], settings["precision"]] + ["compiled"] * settings["compile"]
    return ", ".join(parts)


def race(arguments, shape, field, tried):
    """The fastest of some settings; they take turns, since the machine may be slower now and then."""
    work = Importance if arguments.mode == "importance" else Training
    running, count = {}, {}
    for settings in field:
        name = name_of(settings)
        if tried.get(name, 0) is None:
            continue
        try:
            unit = work(arguments, shape, settings)
            timed(unit, 1)
            seconds = timed(unit, 1)[0]
            running[name], count[name] = unit, max(1, min(20, int(0.15 / seconds)))
            tried[name] = min(1e3 * seconds, tried.get(name, math.inf))
        except Exception as error:  # whatever goes wrong, this version cannot do it
            print(f"{name}: {str(error).splitlines()[0] if str(error) else type(error).__name__}", file=sys.stderr)
            tried[name] = None
    for _ in range(1 if min(tried[name] for name in running) > 1e3 else 8):
        for name, unit in running.items():
            tried[name] = min(tried[name], 1e3 * min(timed(unit, count[name])))
    return sorted((settings for settings in field if name_of(settings) in running), key=lambda s: tried[name_of(s)])


def fastest(arguments, shape):
    tried, training = {}, arguments.mode == "train"
    ranked = race(arguments, shape, list(choices(arguments)), tried)
    best = ranked[0]
    if training:
        best = race(arguments, shape, [dict(best, optimizer=name) for name in ("foreach", "fused", "plain")], tried)[0]
    if NEW and arguments.compile:
        # Compiling changes which attention is best; importance can only be compiled with gates.
        ways = ["matmul", "sdpa"] if training else ["matmul gate", "baddbmm gate"]
        precisions = sorted({settings["precision"] for settings in ranked})
        compiled = [dict(best, attention=w, precision=p, compile=True) for w in ways for p in precisions]
        best = race(arguments, shape, [best] + compiled, tried)[0]
    return {"settings": best, "ms": round(tried[name_of(best)], 3),
            "tried_ms": {name: ms and round(ms, 2) for name, ms in tried.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", choices=MODELS, default="char")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--mode", choices=["train", "importance"], default="train")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--compile", action="store_true", help="also try torch.compile")
    parser.add_argument("--settings", help="what to run, as a JSON object")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    shape = dict(MODELS[arguments.config])
    shape["batch"] = arguments.batch or shape["batch"]
    hello = {"torch": torch.__version__, "config": arguments.config, "threads": arguments.threads}
    if not arguments.settings:
        print(json.dumps({**hello, **fastest(arguments, shape)}), flush=True)
        return
    settings = json.loads(arguments.settings)
    unit = (Importance if arguments.mode == "importance" else Training)(arguments, shape, settings)
    timed(unit, 3)
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        seconds = timed(unit, int(line.split()[1]))
        print(json.dumps({"ms": 1e3 * statistics.median(seconds), "ms_min": 1e3 * min(seconds),
                          "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}), flush=True)


if __name__ == "__main__":
    main()
