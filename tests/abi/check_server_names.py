#!/usr/bin/env python3
"""Checks that only the table of dialects knows servers by name: a server's ways are asked for, never its name.

usage: check_server_names.py ROOT | check_server_names.py --self-test

String literals in lib/, include/ and capi/ may name no server, but for TABLE, the names of selectors, and the sources
that run models with llama.cpp's library (ENGINE). Comments may,
and so may sentences about "Anthropic's" or "OpenAI's" format.
"""
import pathlib
import re
import sys

TABLE = pathlib.Path("lib/wire/dialect_table.hpp")
ENGINE = "lib/engine/llama_*"
SERVERS = re.compile(
    r"posttrainllm|omlx|\bmlx|llama|vllm|sglang|ollama|lm[ -]?studio|abstractcore|anthropic|openai", re.IGNORECASE)
# Selectors, the default dialect of one of them, and words of the protocols themselves and of their
# official clients.
# The formats of the two APIs go by their makers' names.
FORMAT = re.compile(r"\b(Anthropic|OpenAI)'s\b")
ALLOWED = {"openai-url", "anthropic-url", "anthropic", "anthropic-version", "anthropic_version", "anthropic-ratelimit-",
           "OPENAI_API_KEY", "ANTHROPIC_API_KEY"}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|#include[^\n]*|R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"'
                   r'|"(?P<text>(?:\\.|[^"\\\n])*)"', re.DOTALL)


def literals(source):
    for token in TOKEN.finditer(source):
        text = token.group("raw") if token.group("raw") is not None else token.group("text")
        if text is not None:
            yield source.count("\n", 0, token.start()) + 1, text


def problems_of(name, source):
    return [f'{name}:{line}: "{text}" names a server; ask the dialect instead'
            for line, text in literals(source) if SERVERS.search(FORMAT.sub("", text)) and text not in ALLOWED]


def self_test():
    good = '#include <evalcore/wire/openai_chat.hpp>\n// "llama"\nauto a = "openai-url"; /* "vllm" */ auto b = "x\\"y";\nf("OpenAI\'s API");\n'
    bad = ['if (name == "llama-server")', 'auto x = R"(SGLang)";', 'say("oMLX is slow")', 'f("a\\"b", "ollama")']
    found = [f"a good source is refused: {problem}" for problem in problems_of("good", good)]
    return found + [f"not refused: {line}" for line in bad if len(problems_of("bad", good + line)) != 1]


def main(argument):
    if argument == "--self-test":
        problems = self_test()
    else:
        root = pathlib.Path(argument)
        files = [path for top in ("lib", "include", "capi") for path in sorted((root / top).rglob("*.[ch]pp"))]
        problems = [problem for path in files if path.relative_to(root) != TABLE and not path.relative_to(root).match(ENGINE)
                    for problem in problems_of(path.relative_to(root), path.read_text())]
        if not files or not (root / TABLE).exists():
            problems.append(f"no sources under {root}")
    print("\n".join(problems) or "only the table names servers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
