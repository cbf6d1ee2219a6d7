"""decode_calls against BFCL's default_decode_ast_prompting: the same calls with the same values, or no calls, on
hand-made texts and on random expressions."""

import random

import pytest

import bfcl_reference as reference
from score_replies import score

pytestmark = pytest.mark.filterwarnings("ignore")  # Python warns of odd literals.

TARGET = {"row": '{"id": "x", "category": "", "target": [{"f": {}}], '
                 '"functions": [{"name": "f", "parameters": {"properties": {}}}]'}

# Valid Python that BFCL's decoder reads and evalcore does not (see decode_calls): nothing that it gives can be right.
NOT_READ = [
    "f(a=1j)", "f(a=b'x')", r"f(a='\ud83d')", r"f(a='\N{DIGIT ONE}')", "f(**x)", "f(a=2**64 * 2)",
    "f(a='x' * 3)", "f(a='%s' % 3)", "f(a=[1] + [2])", "f(a=g(x for x in y))", "f(a=g(lambda: 1))",
    "f(a=g(b < c))", "f(lambda: 1)", "f(f'{x}')", "f(a=x[1:2])", "f(a=g(*x))", "f(a=g(x if y else z))",
]

TEXTS = [
    # strings
    """f(a='x', b="y", c='''z''', d=\"\"\"w\"\"\")""", r"f(a='\n\t\\\'\"\a\b\f\v\r')", r"f(a='\x41\u00e9\U0001F600\101\7\18')",
    r"f(a='\q\.\-')", r"f(a=r'\n\'', b=R'\d')", "f(a=u'x', b=U'y')", "f(a='x' 'y' \"z\")", "f(a='x'\n'y')", "f(a=('x'\n'y'))",
    "f(a='x\ny')", "f(a='''x\ny''')", "f(a='x\\\ny')", "f(a='x)", "f(a=\"it's\")", "f(a='say \"hi\"')", "f(a='both \\' and \"')",
    r"f(a='\x4')", r"f(a='\u12')", r"f(a='\U00110000')", "f(a='\t')", "f(a='é😀\u200b\xa0\x7f\u2028')", "f(a='''')", "f(a='''''')",
    "f(a='''x'y''z''')", "f(a='\\777')", "f(a='\\0')", "f(a=ur'x')", "f(a=x'y')", "f(a='x'r'\\y')", "f(a='#no comment')",
    "f(a='x' b'y')", "f(a=f'x')", "f(a='\\\\')", "f(a='\\')",
    # numbers
    "f(a=0, b=00, c=0_0, d=1_000, e=0x1F, f=0X_ff, g=0o17, h=0b101)", "f(a=007)", "f(a=09)", "f(a=09.5)", "f(a=1__0)",
    "f(a=1_)", "f(a=_1)", "f(a=0x)", "f(a=0xg)", "f(a=0b2)", "f(a=0o8)", "f(a=1.5, b=1., c=.5, d=1e5, e=1E-5, f=1e+5, g=0.1e1)",
    "f(a=1.5.2)", "f(a=1e)", "f(a=1e+)", "f(a=1_0.0_1e1_0)", "f(a=1_.5)", "f(a=1._5)", "f(a=1e_5)", "f(a=1e999, b=1e-999, c=0e999)",
    "f(a=1e16, b=1e15, c=123456789012345678.0, d=0.0001, e=0.00001, f=5e-324, g=1.7976931348623157e308)",
    "f(a=9223372036854775807, b=9223372036854775808, c=-9223372036854775808, d=-9223372036854775809)",
    "f(a=123456789012345678901234567890, b=0xffffffffffffffffffffffff)", "f(a=-5, b=+5, c=~5, d=not 5)", "f(a=-True, b=not True)",
    "f(a=--5)", "f(a=-x)", "f(a=-'x')", "f(a=-None)", "f(a=- 5)", "f(a=-1.5, b=-0, c=-0.0)", "f(a=1x)", "f(a=1é)", "f(a=-[1])",
    "f(a=-(5))", "f(a=not x)",
    # arithmetic
    "f(a=1+2, b=3-5, c=2*3, d=7/2, e=7//2, f=-7//2, g=-7%3, h=7%-3, i=2**10, j=2**-1, k=1<<4, l=5>>1, m=6&3, n=6|3, o=6^3)",
    "f(a=1/0)", "f(a=1//0)", "f(a=1%0)", "f(a=1.0/0)", "f(a=0**-1)", "f(a=1<<-1)", "f(a=5.5//2, b=-5.5//2, c=5.5%-2, d=-0.0//1)",
    "f(a=2+3*4, b=(2+3)*4, c=2**3**2, d=-2**2, e=+5-3, f=~5+1, g=-5+3, h=10-2-3, i=100/10/2)", "f(a=1+'x')", "f(a='x'+'y')",
    "f(a=x+1)", "f(a=1+x)", "f(a=1@2)", "f(a=1.5&2)", "f(a=1.5+2, b=2*1.5, c=1/3, d=0.1+0.2)", "f(a=True+1)", "f(a=None+1)",
    "f(a=1e308*10)", "f(a=10.0**400)", "f(a=2.0**0.5, b=(0-8)**2)", "f(a=1+)", "f(a=*1)", "f(a=1 2)", "f(a=60*60*24)", "f(a=2024-1-2)",
    "f(a=2024-01-02)", "f(a=1/2 + f(x))", "f(a=5%)", "f(a=3 * (4 + 5) ** 2 / 7 - 1)", "f(a=-1 ** 2)", "f(a=2 ** -1)",
    # names and values
    "f(a=true, b=false, c=null, d=None, e=True, f=False)", "f(a=x, b=_y, c=Größe, d=北京, e=ﬁ)", "f(größe=1, ﬁ=2)", "f(a=x.y)",
    "f(a=...)", "f(a=“x”)", "f(a=‘x’)", "f(a=$x)", "f(a=x?)", "f(a=x!)", "f(a=`x`)", "f(a=x y)", "f(a=x;b=2)", "f(a=\xa0x)", "f(a=x\u0301)",
    "f(a=\u0301)", "f(a=٣)", "f(a=x٣)", "f(a=·x)", "f(a=x·)", "f(a=℘)", "f(a=₿)", "f(a=😀)", "f(a=x\x00)", "f(a=x\x0b)", "f(a=\x0cx)",
    # containers
    "f(a=[], b=(), c={}, d=[1], e=(1,), f=(1), g={'x': 1}, h=[1, 2,], i=(1, 2,), j={'x': 1,})", "f(a=[,])", "f(a=(,))", "f(a={,})",
    "f(a=[1,,2])", "f(a=[1 2])", "f(a={1: 2, 1.0: 3, True: 4, '1': 5})", "f(a={(1, 2): 3, (1.0, 2): 4, ((1,), 'x'): 5})",
    "f(a={[1]: 2})", "f(a={{}: 2})", "f(a={x: y, None: 1})", "f(a={'x'})", "f(a={1, 2})", "f(a={'x': 1, 2})", "f(a={1, 2: 3})",
    "f(a={**x})", "f(a={'x': 1, **x})", "f(a=[*x])", "f(a=(*x,))", "f(a=[x for x in y])", "f(a={x: 1 for x in y})", "f(a={x for x in y})",
    "f(a=(x for x in y))", "f(a=[[[1]], (2, [3])])", "f(a={'x': [1, {'y': (2,)}]})", "f(a={'x' 1})", "f(a={'x': })", "f(a={: 1})",
    "f(a=[1, 2)", "f(a=(1, 2])", "f(a={-1: +1, -1.5: 2})", "f(a={1e20: 1, 100000000000000000000: 2})", "f(a={0: 1, -0.0: 2, False: 3})",
    # nested calls, subscripts
    "f(a=g())", "f(a=g(1, 'x'))", "f(a=g(x=1))", "f(a=g(1, x=2))", "f(a=g.h(x=1).i(y=2))", "f(a=g(h(1), [2], (3,), {4: 5}, -6, not x))",
    "f(a=datetime.date(2024, 1, 2))", "f(a=x[0])", "f(a=x['y'])", "f(a=x[1, 2])", "f(a=x[(1, 2)])", "f(a=x[()])", "f(a=x[1,])",
    "f(a=x.y[0].z[-1])", "f(a=g(1)[0])", "f(a=[1, 2][0])", "f(a='x'[0])", "f(a=(x + y)[0])", "f(a=g(x + y * z, (x + y) * z, x ** y ** z))",
    "f(a=g((x ** y) ** z, -x ** y, (-x) ** y, -(x + y), ~x, not x))", "f(a=g(x - (y - z), (x - y) - z, x // y % z, x << 1 | y & 2 ^ 3))",
    "f(a=g(1 .real, 1.5.real, True.real))", "f(a=g('it\\'s', \"x\\\"y\", u'z', 1e999, 1e16, ...))", "f(a=g(())) ", "f(a=g((1,), (1, 2)))",
    "f(a=x[])", "f(a=x[0)", "f(a=g(x[1, 2], x[()], x[(1, 2)]))", "f(a=g(b=1)[0])", "f(a={g(): 1, g(x=1): 2})",
    "f(a=x if y else z)", "f(a=x or y)", "f(a=x == y)", "f(a=lambda x: x)", "f(a=await x)", "f(a=(yield x))", "f(a=(b := 1))", "f(a=b := 1)",
    # the call
    "f()", "f(1)", "f(1, a=2)", "f(a=1, 2)", "f(*x, a=1)", "f(a=1, *x)", "f(**x, *y)", "f(a=1, a=2)", "f(a=1,)", "f(,)", "f(a=1,,)", "f(a)",
    "f(a==1)", "f(a=)", "f(=1)", "f(a b=1)", "f(a.b=1)", "f('a'=1)", "f((a)=1)", "f(class=1)", "f(None=1)", "f(match=1, type=2, print=3)",
    "f(x := 1)", "f((x) := 1)", "f(a: 1)", "f{a=1}", "f[a=1]", "f a=1", "f", "f(", ")", "f)", "f()()", "f(a=1)(b=2)", "a.b.c(x=1)", "a.b(c=1).d.e(x=2)",
    "x[0].f(a=1)", "'x'.join(a=1)", "(f)(a=1)", "(f.g)(a=1)", "[f][0](a=1)", "a..b(x=1)", ".f(a=1)", "a.class(x=1)", "class.a(x=1)", "1.f(a=1)", "None.f(a=1)",
    "f(if x)", "f(not x, a=1)", "f(x == y, a=1)", "f(x if y else z, a=1)", "f({1, 2}, a=1)", "f(x and y or z, a=1)", "f(x is not y, x not in y, a=1)",
    "f(x not y, a=1)", "f(x < y < z, a=1)", "f(x <> y)", "f(-x, a=1)", "f(x[1:2, ::3, :], a=1)", "f(x.y, a=1)", "f(x -> y)", "f(a=1) # note", "f(a=1 # note\n, b=2)",
    # around the call
    "", "[]", "[[]]", "()", "[f(a=1)]", "[f(a=1), g(b=2)]", "f(a=1), g(b=2)", "f(a=1)\ng(b=2)", "f(a=1); g(b=2)", "[f(a=1) g(b=2)]", "[f(a=1),]", "[f(a=1),,]", "[,]",
    "[f(a=1), 1]", "[f(a=1), 'x']", "[f(a=1)], [g(b=2)]", "[f(a=1)][0]", "[f(a=1)] + [g(b=2)]", "[f(a=1)] # x]", "[f(a=1)]\n# x]", "[f(a=1)], # x]", "[f(a=1)] x]",
    "[f(a=1)\n]", "[\n  f(a=1),\n  g(b=2)\n]", "`f(a=1)`", "```f(a=1)```", "```\n[f(a=1)]\n```", "```python\nf(a=1)\n```", " \n f(a=1) \n ", "\tf(a=1)\t", "[f(a=1)]\t", "[f(a=1)]\r\n",
    "f(a=1)\r\n", "f(a=1,\r\nb=2)", "f(a=1,\rb=2)", "'[f(a=1)]'", "\"[f(a=1)]\"", "[f(a=1)]'", "\ufeff[f(a=1)]", "[*f(a=1)]", "[x := f(a=1)]", "[f(a=1) if x else y]", "[f(a=1).b]", "[f(a=1) for x in y]",
    "[await f(a=1)]", "x = f(a=1)", "return f(a=1)", "print(f(a=1))", "Sure: f(a=1)", "f(a=1).", "{'f': {'a': 1}}", '[{"name": "f"}]', "<f>a</f>", "f(a=1)]", "[f(a=1", "f(a=[1]", "f(a=[1", "f(a=(1,)", "f(a='x]')",
    "f(a=1) \\\n", "f(a=\\\n1)", "f(a=\\ 1)", "\\", "#", "#]", "[f(a=1)]#", "f(a=1)\x0c", "[f(a=1)\x1a]",
    # size
    "f(a=" + "[" * 150 + "]" * 150 + ")", "f(a=" + "[" * 199 + "]" * 199 + ")", "[" * 200_000, "f(" * 5000, "f(a=" + "-" * 1000 + "1)", "f(a=" + "9" * 4300 + ")", "f(a=" + "9" * 4301 + ")",
    "f(a=0x" + "f" * 3000 + ")", "f(" + ", ".join(f"a{i}={i}" for i in range(2000)) + ")", "f(a=[" + "1," * 20_000 + "])",
    "f(a={" + ",".join(f"'{i}': {i}" for i in range(5000)) + "})",
]


def decoded(texts):
    """What evalcore makes of the texts: its listing, or None."""
    verdicts = score([(TARGET, {"text": text}) for text in texts])
    return [None if one["reason"].startswith("not a list of calls") else one["extracted"] for one in verdicts]


def compare(texts):
    ours = decoded(texts)
    assert len(ours) == len(texts)
    for text, mine in zip(texts, ours):
        calls = reference.decode(text)
        assert mine == (None if calls is None else reference.listing(calls)), text[:500]


@pytest.mark.parametrize("start", range(0, len(TEXTS), 25))
def test_hand_made_texts(start):
    compare(TEXTS[start:start + 25])


def test_what_is_not_read():
    assert decoded(NOT_READ) == [None] * len(NOT_READ)
    # Each is read by BFCL's decoder, or the entry has no reason to stand in the list.
    assert all(reference.decode(text) is not None for text in NOT_READ)


class Writer:
    """Random call expressions, mostly valid."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return self.one_of("0", "1", "42", "1_000", "0x1F", "3.14", ".5", "1.", "1e3", "2E-3", "1e22", "12345678901234567890", "007")

    def string(self):
        body = "".join(self.random.choices(["a", "B", " ", "é", "北", "\\n", "\\'", '\\"', "\\x41", "\\q", "'", '"', "#", "😀", "\\u00e9"], k=self.random.randrange(6)))
        return self.one_of("", "", "r", "u") + self.one_of("'{}'", '"{}"', "'''{}'''", '"""{}"""').format(body)

    def arithmetic(self, depth):
        if depth == 0 or self.random.random() < 0.3:
            return self.one_of("1", "2", "3", "7", "1.5", "0.25")
        op = self.one_of("+", "-", "*", "/", "//", "%", "**")
        left, right = self.arithmetic(depth - 1), self.one_of("2", "3", "-2", *(["0.5"] if op != "**" else []))
        return self.one_of(f"{left} {op} {right}", f"({left}){op}({right})")

    def value(self, depth, as_source=False):
        """as_source: inside a call without keywords or a subscript, whose value is their source text."""
        kind = self.random.randrange(5 if depth == 0 else 15 if as_source else 16)
        inner = lambda: self.value(depth - 1, as_source)  # noqa: E731
        some = lambda: [inner() for _ in range(self.random.randrange(4))]  # noqa: E731
        match kind:
            case 0 | 5: return self.number()
            case 1 | 6: return self.string()
            case 2: return self.one_of("True", "False", "None", "true", "null", "...")
            case 3: return self.one_of("x", "größe", "名", "x1", "_")
            case 4: return self.one_of("-", "+", "- ", "~", "not ") + self.number()
            case 7 | 8: return f"[{', '.join(some())}]"
            case 9: return f"({', '.join(some())}{self.one_of('', ',')})"
            case 10 | 11: return "{" + ", ".join(f"{self.one_of(self.string(), self.number(), 'x')}: {one}" for one in some()) + "}"
            case 12: return self.arithmetic(3)
            case 13: return self.call(depth - 1, as_source=True)
            case 14: return f"{self.one_of('x', 'x.y', 'x[0]', 'g(1)')}[{self.value(depth - 1, as_source=True)}]"
            case _: return self.one_of("x.y", "x if y else z", "x == 1", "{1, 2}", "x and y", "(1 + x)")

    def call(self, depth, as_source=False):
        name = self.one_of("f", "g.h", "a.b.c", "f().g", "größe.x")
        arguments = [self.value(depth, as_source) for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
        arguments += [f"{self.one_of('a', 'b', 'c', 'größe')}{self.one_of('=', ' = ')}{self.value(depth, as_source)}"
                      for _ in range(self.random.randrange(4))]
        return f"{name}({self.one_of(', ', ',', ', # note' + chr(10)).join(arguments)})"

    def text(self):
        damaged = self.random.random() < 0.1
        calls = ", ".join(self.call(3, as_source=damaged) for _ in range(self.random.choice([1, 1, 1, 2])))
        text = self.one_of(f"[{calls}]", calls, f"```\n{calls}\n```")
        if damaged:
            at = self.random.randrange(len(text))
            text = text[:at] + self.one_of("", "(", ")", "]", "'", '"', ",", " ", "\n", "1", "x", "-") + text[at + 1:]
        return text


@pytest.mark.parametrize("seed", range(10))
def test_random_texts(seed):
    writer = Writer(seed)
    texts = [writer.text() for _ in range(1500)]
    compare(texts)
    assert sum(reference.decode(text) is not None for text in texts) > 300
