"""Renders template constructs as `transformers` does, and writes what comes out.

`jinja_judge.py OUT SEED COUNT STRIDE` writes JSON lines: the variables that all templates see, then `[template, text]` for each
template, with `null` for one that fails. The first templates are the same for every seed: each filter, test, method and
operator with the values and arguments below, of which one in STRIDE is taken, and the statements. COUNT more are drawn. Texts that name an address in memory, a
complex number or an integer of more than 64 bits are left out.
"""

import copy
import json
import random
import re
import sys

from transformers.utils.chat_template_utils import _compile_jinja_template

VARIABLES = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": " Hi <there> "},
        {"role": "assistant", "content": None, "tool_calls": [
            {"type": "function", "id": "call_1", "function": {"name": "find", "arguments": {"q": "a b", "n": 3}}}]},
        {"role": "tool", "content": "[1, 2]", "name": "find"},
        {"role": "assistant", "content": "<think>why</think>\n\nHello", "reasoning_content": "why"},
        {"role": "user", "content": [{"type": "text", "text": "and"}, {"type": "image"}, {"type": "text", "text": "so"}]},
    ],
    "tools": [
        {"type": "function", "function": {
            "name": "find", "description": "Finds \"things\"\nfast — ünïcode.",
            "parameters": {"type": "object", "required": ["q"], "properties": {
                "q": {"type": "string", "description": "what"}, "n": {"type": ["integer", "null"], "enum": [1, 2.5, True]}}}}},
    ],
    "documents": [{"title": "One", "text": "first"}, {"title": "Two", "text": "second"}],
    "add_generation_prompt": True,
    "bos_token": "<s>", "eos_token": "</s>",
    "s": "Hello, World", "t": "  a b\tc \n", "e": "", "u": "straße ŒUVRE ǆ 数 e\u0301",
    "w": "one two-three  four five-six seven eight",
    "n": 7, "z": 0, "m": -3, "f": 2.5, "g": -0.0, "h": 1e22, "p": 1e-07,
    "l": [3, 1, 2], "k": ["b", "A", "c", "a"], "x": [], "y": [1, "a", None, True, 2.0, [1], {"a": 1}],
    "d": {"b": 1, "a": 2, "C": 3}, "o": {}, "q": [{"a": 1, "b": "x"}, {"a": 2, "b": "X"}, {"a": 1, "b": "y"}],
    "v": None, "b": True, "c": False,
}

VALUES = [
    "s", "t", "e", "u", "w", "n", "z", "m", "f", "g", "h", "p", "l", "k", "x", "y", "d", "o", "q", "v", "b", "c", "nothing",
    "(1, 'b')", "range(4)", "d.items()", "namespace(a=1)", "'<a href=\"x\">y &amp; z</a>'", "'12'", "'0x1f'", "'1.5e3'", "'%s|%5.2f'",
]
ARGUMENTS = {
    "abs": [""], "attr": ["'a'", "'upper'", "'items'"], "batch": ["2", "2, 'z'", "0"], "capitalize": [""],
    "center": ["", "20", "3"], "count": [""], "d": ["", "1", "1, true"], "default": ["'z'", "'z', boolean=true"],
    "dictsort": ["", "true", "false, 'value'", "reverse=true"], "e": [""], "escape": [""],
    "filesizeformat": ["", "true"], "first": [""], "float": ["", "1.5"], "forceescape": [""], "format": ["1", "1, 2.5", "a=1"],
    "groupby": ["'a'", "'b'", "'b', case_sensitive=true", "'z', default=0"], "indent": ["", "2", "2, true", "2, true, true", "'>>'"],
    "int": ["", "5", "0, 16", "-1, 0"], "items": [""], "join": ["", "'-'", "', ', attribute='a'"], "last": [""], "length": [""],
    "list": [""], "lower": [""],
    "map": ["'upper'", "attribute='a'", "attribute='a', default=9", "'string'", "'int'", "'default', 4", "'nothing'", ""],
    "max": ["", "attribute='a'"], "min": ["", "true"], "pprint": [""], "reject": ["", "'none'", "'equalto', 1", "'odd'"],
    "rejectattr": ["'a'", "'a', 'equalto', 1"], "replace": ["'l', 'L'", "'l', 'L', 1", "'', '-'"], "reverse": [""],
    "round": ["", "1", "0, 'floor'", "1, 'ceil'", "-1", "method='x'"], "safe": [""],
    "select": ["", "'string'", "'in', ['a', 1]", "'defined'", "'mapping'"], "selectattr": ["'a'", "'a', 'equalto', 1", "'b', 'in', 'xy'"],
    "slice": ["2", "3, 'z'"], "sort": ["", "true", "case_sensitive=true", "attribute='a'", "attribute='b,a'"], "string": [""],
    "striptags": [""], "sum": ["", "attribute='a'", "start=10"], "title": [""],
    "tojson": ["", "indent=2", "indent=4, ensure_ascii=true", "separators=(',', ':')", "sort_keys=true", "true", "indent='-'"],
    "trim": ["", "'Hd'", "none"], "truncate": ["", "5", "9, true", "9, false, '..', 0", "2"], "unique": ["", "true", "attribute='a'"],
    "upper": [""], "urlencode": [""], "wordcount": [""], "wordwrap": ["", "9", "7, false", "4, wrapstring='|'", "9, true, none, false"],
    "xmlattr": ["", "false"],
}
TESTS = {
    "boolean": [""], "callable": [""], "defined": [""], "divisibleby": ["(3)", " 2"], "eq": ["(7)"], "equalto": [" 'a'"], "==": [],
    "escaped": [""], "even": [""], "false": [""], "filter": [""], "float": [""], "ge": ["(2)"], "greaterthan": [" 2"], "gt": ["(2)"],
    "in": [" [7, 'a', none]", "('Hello, World')", "(d)"], "integer": [""], "iterable": [""], "le": [" 7"], "lessthan": ["(3)"],
    "lower": [""], "lt": ["(3)"], "mapping": [""], "ne": ["(7)"], "none": [""], "number": [""], "odd": [""],
    "sameas": [" none", " true", "(7)"], "sequence": [""], "string": [""], "test": [""], "true": [""], "undefined": [""], "upper": [""],
}
METHODS = {
    "capitalize": [""], "casefold": [""], "center": ["20", "21, '*'"], "count": ["'l'", "''", "'l', 4", "1"], "endswith": ["'d'", "('x', 'd')", "'lo', 0, 5"],
    "expandtabs": ["", "4"], "find": ["'o'", "'o', 5", "'q'", "'o', -5, -1"], "format": ["", "1, a=2"], "index": ["'o'", "2", "2, 1", "'q'"],
    "isalnum": [""], "isalpha": [""], "isascii": [""], "isdecimal": [""], "isdigit": [""], "isidentifier": [""], "islower": [""],
    "isnumeric": [""], "isprintable": [""], "isspace": [""], "istitle": [""], "isupper": [""], "join": ["['a', 'b']", "'xy'", "[1]", "d"],
    "ljust": ["15", "15, '.'"], "lower": [""], "lstrip": ["", "'H '"], "partition": ["','", "'q'", "''"], "removeprefix": ["'Hello'", "'q'"],
    "removesuffix": ["'World'", "''"], "replace": ["'o', '0'", "'o', '0', 1", "'', '.'", "'o'"], "rfind": ["'o'", "'q'"], "rindex": ["'o'"],
    "rjust": ["15"], "rpartition": ["','", "'q'", "' '"], "rsplit": ["", "' '", "none, 1", "'o', 1"], "rstrip": ["", "'d\\n'"],
    "split": ["", "' '", "none, 1", "'o', 1", "'l'", "''", "sep=' ', maxsplit=1"], "splitlines": ["", "true"], "startswith": ["'H'", "('x', 'H')", "'l', 2", "1"],
    "strip": ["", "'Hd'"], "swapcase": [""], "title": [""], "upper": [""], "zfill": ["15", "3"],
    "copy": [""], "get": ["'a'", "'z'", "'z', 4", "[1]"], "items": [""], "keys": [""], "values": [""], "append": ["1"], "pop": [""],
    "update": ["a=1"], "is_integer": [""], "bit_length": [""], "a": [""], "__class__": [""], "format_map": ["d"],
}
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
BOUNDS = ["", "0", "1", "2", "-1", "-2", "9", "-9"]
STEPS = ["", "1", "2", "-1", "-2", "0"]
PERCENT = [
    "%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%i", "%s", "%10s|", "%-10s|", "%.2s", "%r", "%x", "%#X", "%o", "%e", "%.3E", "%f", "%.1f", "%8.3f|",
    "%g", "%.3g", "%#.3g", "%c", "%%", "%5%", "%q", "%", "%(a)s", "%ld", "%.3d", "%*d",
]
BRACES = [
    "{}", "{0}", "{:>8}", "{:<8}|", "{:^8}|", "{:*^9}", "{:d}", "{:5d}", "{:05d}", "{:+}", "{: }", "{:,}", "{:_}", "{:x}", "{:#x}", "{:b}", "{:o}",
    "{:e}", "{:.2f}", "{:10.3f}", "{:g}", "{:%}", "{:.1%}", "{:.3}", "{!r}", "{!s:>4}", "{{}}", "{", "}", "{:c}", "{:n}", "{0[a]}", "{0.a}", "{a}", "{:{}}",
    "{:=+6}", "{:,.2f}", "{:q}", "{:s}",
]
STATEMENTS = [
    "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}",
    "{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %}",
    "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for i in x %}{{ i }}{% else %}none{% endfor %}", "{% for i in nothing %}{% else %}none{% endfor %}", "{% for i in v %}{% endfor %}", "{% for i in n %}{% endfor %}",
    "{% for i in l if i > 1 %}{{ loop.index }}/{{ loop.length }}:{{ i }} {% endfor %}", "{% for a, b in d.items() %}{{ a }}={{ b }};{% endfor %}",
    "{% for a in d %}{{ a }}{% endfor %}", "{% for a, b in q %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in l %}{% endfor %}", "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a in 1, 2 %}{{ a }}{% endfor %}", "{% for i in range(9) %}{% if i == 3 %}{% continue %}{% endif %}{% if i == 6 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% break %}", "{% for i in l recursive %}{{ i }}{{ loop([9]) if i == 1 and loop.depth < 3 else '' }}{% endfor %}", "{% for i in l %}{{ loop([1]) }}{% endfor %}",
    "{% for i in [{'k': [{'k': []}, {'k': []}]}] recursive %}<{{ loop.depth }}{{ loop(i.k) }}>{% endfor %}",
    "{% set a = 1 %}{% for i in l %}{% set a = a + i %}{{ a }}{% endfor %}{{ a }}", "{% for i in l %}{% set a = i %}{% endfor %}{{ a is defined }}",
    "{% if true %}{% set a = 1 %}{% endif %}{{ a }}", "{% set ns = namespace(a=1, b='x') %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns }}",
    "{% set ns = namespace({'a': 1}) %}{{ ns.a }}{{ ns['a'] }}", "{% set ns = namespace(_a=1) %}", "{% set ns = namespace() %}{% set ns._a = 1 %}", "{% set d.a = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}", "{% set a, b = l %}", "{% set a %}x{{ n }}{% endset %}{{ a ~ a }}", "{% set a | upper | replace('X', 'y') %}x{{ n }}{% endset %}{{ a }}",
    "{% set ns = namespace() %}{% set ns.a %}z{% endset %}{{ ns.a }}", "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}", "{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}",
    "{% macro f(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, c=3) }} {{ f() }} {{ f(a=4) }}", "{% macro f() %}{% endmacro %}{{ f(1) }}", "{% macro f() %}{% endmacro %}{{ f(z=1) }}",
    "{% macro f(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, z=4) }}", "{% macro f() %}{{ caller('q') }}{% endmacro %}{% call(a) f() %}[{{ a }}{{ n }}]{% endcall %}",
    "{% macro f() %}{{ caller() }}{{ caller() }}{% endmacro %}{% call f() %}x{% endcall %}", "{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}", "{% macro f() %}x{% endmacro %}{% call f() %}y{% endcall %}",
    "{% macro f(a) %}{% if a > 0 %}{{ a }}{{ f(a - 1) }}{% endif %}{% endmacro %}{{ f(4) }}", "{% macro f(a, b) %}{% endmacro %}{{ f.name }}{{ f.arguments }}{{ f.catch_kwargs }}{{ f.catch_varargs }}{{ f.caller }}",
    "{% set a = 1 %}{% macro f() %}{{ a }}{% endmacro %}{% set a = 2 %}{{ f() }}", "{% for i in l %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}", "{% macro f() %}{% set a = 5 %}{% endmacro %}{{ f() }}{{ a }}",
    "{% filter upper %}a{{ n }}b{% endfilter %}", "{% filter replace('a', 'b') | upper %}abc{% endfilter %}", "{% generation %}x{{ n }}{% endgeneration %}", "{%- generation -%} x {%- endgeneration -%} y",
    "{% generation %}{% set a = 1 %}{% endgeneration %}{{ a is defined }}", "{% for i in l %}{% generation %}{{ i }}{% if i == 1 %}!{% endif %}{% endgeneration %}{% endfor %}", "{% for i in l %}{% generation %}{% break %}{% endgeneration %}{% endfor %}",
    "{% generation %}", "{% raw %}{{ x }}{% y %}{% endraw %}z", "{%- raw -%}  a  {%- endraw -%}  b", "a{# b #}c", "a\n  {# b #}\nc", "{# a", "{{ 1", "{% if", "{% if true %}", "{% endif %}", "{% nothing %}", "{{ }}", "{{ 1 2 }}",
    "{% if x %}a{% elif n %}b{% else %}c{% endif %}", "{% if not x and (n or e) %}a{% endif %}", "{{ 'a' if n else 'b' }}{{ 'a' if z }}{{ ('a' if z) is undefined }}", "{{ 1 if z else 2 if z else 3 }}",
    "a\n{% if true %}\nb\n{% endif %}\nc", "a\n  {%- if true -%}\n  b\n  {%- endif -%}\nc", "a\n  {%+ if true +%}\nb\n  {%+ endif %}\nc", "a \n {{- n -}} \n b", "a\n   {{ n }}\n   b\n", "x  {% if true %}y{% endif %}  z\n\n",
    "  {% set a = 1 %}\n  {% set b = 2 %}\n{{ a }}{{ b }}", "a\r\n{% if true %}\r\nb\r\n{% endif %}\r\n", "{{ '\\n\\t\\\\\\'\\x41\\u00e9\\101' }}", "{{ 'a' 'b' \"c\" }}", "{{ {'a': {'b': [1, {'c': 2}]}}.a.b[1].c }}", "{{ 1_000 + 0x1f + 0b11 + 0o17 }}",
    "{{ 1.5e3 }} {{ 1e3 }} {{ .5 }}", "{{ d.a }}{{ d['a'] }}{{ d.zz }}{{ d['zz'] is undefined }}", "{{ d.zz.y }}", "{{ nothing.y }}", "{{ nothing['y'] }}", "{{ nothing() }}", "{{ nothing + 1 }}", "{{ nothing ~ 'a' }}",
    "{{ l.0 }}{{ l.9 }}{{ l[9] is undefined }}", "{{ l['a'] }}", "{{ s[0] }}{{ s[-1] }}{{ s[99] }}", "{{ v.a }}", "{{ v[0] }}", "{{ v[1:] }}", "{{ d[1:] }}", "{{ n.a }}", "{{ l[1, 2] }}", "{{ d[(1, 2)] }}", "{{ {(1, 2): 3}[(1, 2)] }}", "{{ {1: 2, 1.0: 3, true: 4} }}", "{{ {[1]: 2} }}",
    "{{ -2 ** 2 }}{{ 2 ** 3 ** 2 }}{{ -n | abs }}{{ - - n }}{{ +n }}", "{{ not n is none }}{{ n is not none }}{{ n not in l }}{{ not n in l }}", "{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ 1 == 1.0 == true }}", "{{ 1 + 2 ~ 3 * 4 }}", "{{ 'a' ~ 1 ~ none ~ true ~ 1.0 ~ l }}",
    "{{ n is divisibleby 7 and true }}", "{{ n is divisibleby(7) }}", "{{ n is odd is true }}", "{{ n is nothing }}", "{{ n | nothing }}", "{{ (n, ) }}{{ () }}{{ (1, 2) }}{{ [1, ] }}{{ {'a': 1, } }}", "{{ 1, 2 }}", "{{ [l, k] }}{{ (s, v, b) }}{{ {'x': nothing} }}",
    "{{ l | sort | join(',') }}{{ l | sort(reverse=true) | first }}{{ k | map('lower') | unique | list }}", "{{ l | map('string') | join }}", "{% if l | select('odd') %}a{% endif %}{{ l | select('odd') | list | length }}", "{{ l | select | length }}", "{% set a = l | map('string') %}{{ a | list }}{{ a | list }}",
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | map(attribute='role') | join(',') }}{{ messages | rejectattr('content', 'string') | map(attribute='role') | list }}",
    "{% for g in q | groupby('a') %}{{ g.grouper }}{{ g[0] }}{{ g.list | length }}{{ g }};{% endfor %}{% for a, b in q | groupby('b') %}{{ a }}{{ b | map(attribute='a') | list }}{% endfor %}",
    "{% set a = cycler('x', 'y') %}{{ a.next() }}{{ a.current }}{{ a.next() }}{{ a.next() }}{{ a.reset() }}{{ a.current }}", "{% set j = joiner('|') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}", "{{ joiner()() }}{{ dict(a=1, b=2) }}{{ dict([('a', 1)]) }}{{ dict(d, z=1) }}{{ dict.fromkeys(['a', 'b'], 0) }}",
    "{{ range(3) | list }}{{ range(1, 7, 2) | list }}{{ range(3, 0, -1) | list }}{{ range(3) }}{{ range(5)[2] }}{{ range(0) | length }}{{ 3 in range(4) }}{{ range(2) == range(0, 2) }}", "{{ range(1000000) }}", "{{ range(1, 2, 0) }}", "{{ lipsum is defined }}",
    "{{ raise_exception('no') }}", "{% if false %}{{ raise_exception('no') }}{% endif %}a", "{{ strftime_now is defined }}{{ strftime_now is callable }}", "{% include 'a' %}", "{% import 'a' as b %}", "{% extends 'a' %}", "{% block a %}x{{ n }}{% endblock %}", "{% block a %}x{% endblock a %}y", "{% do l.append(1) %}",
    "{% autoescape false %}{{ '<' }}{% endautoescape %}", "{{ l.append(4) }}", "{{ d.update({'a': 1}) }}", "{{ l.append is defined }}", "{{ ''.__class__ }}", "{{ ''.__class__.__mro__ }}", "{{ s.upper }}", "{{ ('<' | e) + '<' }}{{ '<' | e | e }}{{ ('<' | safe) | e }}", "{{ '<' | e ~ '<' }}",
    "{{ '%s' % s }}{{ '%s-%d' % ('a', 2) }}{{ '%(a)s' % d }}{{ '%s' % l }}{{ '%s%s' % l }}{{ '%%' % () }}", "{{ 'a' % 1 }}", "{{ 'a' % d }}", "{{ '%s' % nothing }}", "{{ '%s' % (l,) }}{{ 7 % 3 }}{{ -7 % 3 }}{{ 7 % -3 }}{{ 7.5 % 2 }}",
    "{{ messages[0].content }}{{ messages[0]['content'] }}{{ messages[-1].content[0].text }}{{ messages[1:][0].role }}{{ messages[::-1][0].role }}{{ messages | length }}{{ messages[-1]['content'] | map(attribute='text') | list }}",
    "{% for m in messages %}{% if m.content is string %}{{ m.content | trim }}{% elif m.content is iterable %}{% for c in m.content %}{% if c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}{% elif m.tool_calls %}{% for t in m.tool_calls %}{% set t = t.function %}{{ t.name }}({% for k, v in t.arguments | items %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){% endfor %}{% endif %}{{ eos_token }}\n{% endfor %}",
    "{{ tools[0].function | tojson }}{{ tools | tojson(indent=4) }}{{ tools[0].function.parameters.properties | dictsort }}{{ tools[0].function.parameters.properties.n['type'] | join('|') }}",
    "{% for k, v in tools[0].function.parameters.properties.items() %}{{ k }}: {{ v.type if v.type is string else v.type | join(' | ') }}{% if k not in tools[0].function.parameters.required %}?{% endif %} {% endfor %}",
    "{% set c = messages[4].content %}{% if '</think>' in c %}{{ c.split('</think>')[-1].lstrip('\\n') }}|{{ c.split('</think>')[0].rstrip('\\n').split('<think>')[-1] }}{% endif %}{{ c.partition('</think>')[2] }}{{ c.index('why') }}",
    "{% set ns = namespace(multi=true, last=messages | length - 1) %}{% for m in messages[::-1] %}{% set i = (messages | length - 1) - loop.index0 %}{% if ns.multi and m.role == 'user' and m.content is string and not (m.content.startswith('x') and m.content.endswith('y')) %}{% set ns.multi = false %}{% set ns.last = i %}{% endif %}{% endfor %}{{ ns.last }}{{ ns.multi }}",
    "{% set names = messages | map(attribute='role') | unique | list %}{{ names }}{{ names | sort }}{{ names | length }}", "{{ messages | tojson }}", "{{ (messages | last).role }}{{ (messages | first).role }}{{ messages | map('length') | list }}", "{{ documents | map(attribute='title') | join('\\n') | indent(4, true) }}",
    "{{ d | length }}{{ d | list }}{{ d | first }}{{ d | last }}{{ d.keys() | list }}{{ d.values() | sum }}{{ d.items() }}{{ d.items() | list }}{{ d.items()[0] }}{{ d.keys() }}", "{{ d.a if d.a is defined else 'z' }}{{ d.get('a') }}{{ d.get('z') }}{{ d.get('z', {}) }}{{ 'a' in d }}{{ 'a' in d.keys() }}{{ 2 in d.values() }}",
    "{%- macro show(v, i=0) -%}{%- if v is mapping -%}{%- for a, b in v | dictsort -%}{{ '  ' * i }}{{ a }}:{{ show(b, i + 1) }}{%- endfor -%}{%- elif v is iterable and v is not string -%}{%- for a in v -%}-{{ show(a, i + 1) }}{%- endfor -%}{%- else -%}{{ v }};{%- endif -%}{%- endmacro -%}{{ show(tools) }}",
    "{{ true }}{{ True }}{{ none }}{{ None }}{{ false }}", "{{ loop }}", "{{ self }}{{ varargs }}", "{{ [1, 2] + [3] }}{{ (1,) + (2,) }}{{ 'ab' * 2 }}{{ [1] * 3 }}{{ 3 * 'x' }}{{ [1] + (2,) }}", "{{ 'a' + 1 }}", "{{ 1 + 'a' }}", "{{ 1 / 0 }}", "{{ 7 / 2 }}{{ 7 // 2 }}{{ -7 // 2 }}{{ 7.0 // 2 }}{{ 6 / 3 }}",
    "{{ l[1:] }}{{ l[:-1] }}{{ l[::2] }}{{ l[::-1] }}{{ s[::-1] }}{{ s[1:4] }}{{ (1, 2, 3)[1:] }}{{ l[-2:] }}{{ l[none:2] }}", "{{ l[1.5] }}", "{{ l['1'] }}", "{{ l[:'a'] }}", "{{ 1 if 2 }}", "{{ x and y }}{{ x or e or 'z' }}{{ n and s }}", "{{ [x, e, z, v, c, nothing, o, 0.0] | map('default', 'q', true) | list }}",
    "{{ 12345678 | string | length }}{{ 1.0 | int }}{{ '3' | int + 1 }}{{ 3.7 | int }}{{ '3.7' | int }}{{ 'x' | int }}{{ none | int }}", "{{ nothing | int }}", "{{ 2.5 | round }}{{ 3.5 | round }}{{ 2.675 | round(2) }}{{ 1234 | round(-2) }}{{ 42 | round }}{{ 2.1 | round(0, 'ceil') }}",
    "{{ s is string }}{{ v is none }}{{ nothing is none }}{{ d is mapping }}{{ l is sequence }}{{ n is number }}{{ b is boolean }}{{ v is iterable }}{{ s is iterable }}{{ d is iterable }}{{ nothing is iterable }}{{ n is iterable }}", "{{ {'b': 1, 'a': 2} }}{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}{{ {'b': 1, 'a': 2} | tojson }}",
    "{% print n, s %}", "{% set true = 1 %}", "{% set a = %}", "{% for in l %}{% endfor %}", "{{ a.b.c is defined }}", "{{ a is defined and a.b }}", "{% if a is defined and a %}x{% endif %}y", "{{ s | upper | lower | title | capitalize }}", "{{ s|length }}{{ s | length > 3 }}{{ (s | length) * 2 }}{{ s | length * 2 }}",
    "{% for i in range(3) %}{% for j in range(2) %}{{ loop.index }}{{ loop.depth }}{% endfor %}{% endfor %}", "{% for i in l %}{% set outer = loop %}{% for j in k %}{{ outer.index }}{% endfor %}{% endfor %}", "{% for i in l %}{{ loop }}{% endfor %}", "{% for i in l -%} {{ i }} {%- endfor %}", "{% for i in l | reverse %}{{ i }}{% endfor %}{{ l | reverse | list }}{{ s | reverse }}",
    "{{ 'é' | tojson }}{{ 'é' | tojson(ensure_ascii=true) }}{{ {'a': none, 'b': [true, 1.0]} | tojson }}{{ {1: 2, none: 3, true: 4} | tojson }}{{ nothing | tojson }}", "{{ nothing | tojson }}", "{{ range(2) | tojson }}", "{{ (1, 2) | tojson }}{{ [] | tojson(indent=2) }}{{ {} | tojson(indent=2) }}{{ [[]] | tojson(indent=1) }}",
    "{{ 'a,b' | replace(',', '') }}{{ 5 | replace('5', '6') }}", "{{ 'ab' | list }}{{ 'ab' | first }}{{ 'ab' | last }}{{ [] | first }}{{ [] | first is undefined }}{{ [] | max }}", "{{ 'abc' | batch(2) | list }}{{ l | slice(2) | list }}{{ l | sum }}{{ l | min }}{{ l | max }}", "{{ '{} {a}'.format(1, a=2) }}{{ '{0[a]}'.format(d) }}{{ '{:>5}'.format('a') }}",
]

# Frames around a body `B` which mentions the variable `n`.
FRAMES = [
    "B", "{% filter upper %}B{% endfilter %}", "{% filter replace('7', n) %}7B{% endfilter %}", "{% for i in l %}B{% endfor %}", "{% for n in l %}B{% endfor %}",
    "{% for i in l if n %}B{% endfor %}", "{% for i in x %}{% else %}B{% endfor %}", "{% for i in [[1], []] recursive %}B{{ loop([]) if i }}{% endfor %}",
    "{% with a = 1 %}B{% endwith %}", "{% with a = n %}B{% endwith %}", "{% with n = n %}B{% endwith %}", "{% macro g() %}B{% endmacro %}{{ g() }}",
    "{% macro g(n) %}B{% endmacro %}{{ g() }}", "{% macro g(a=n, n=3) %}{{ a }}B{% endmacro %}{{ g() }}{{ g(n=4) }}", "{% macro h() %}{{ caller() }}{% endmacro %}{% call h() %}B{% endcall %}",
    "{% macro h() %}{{ caller(2) }}{% endmacro %}{% call(n, a=n) h() %}{{ a }}B{% endcall %}", "{% generation %}B{% endgeneration %}", "{% autoescape false %}B{% endautoescape %}",
    "{% set a %}B{% endset %}{{ a }}", "{% set n %}B{% endset %}{{ n }}", "{% set a | upper %}B{% endset %}{{ a }}", "{% block a %}B{% endblock %}",
    "{% block a scoped %}B{% endblock %}", "{% for n in l %}{% block a %}B{% endblock %}{% endfor %}", "{% for n in l %}{% block a scoped %}B{% endblock %}{% endfor %}",
    "{% if b %}B{% endif %}", "{% if c %}{% else %}B{% endif %}", "{% if c %}{% elif b %}B{% endif %}",
]
BODIES = [
    "{{ n }}", "{% set n = 1 %}{{ n }}", "{{ n }}{% set n = 1 %}{{ n }}", "{% set n = n ~ 1 %}{{ n }}", "{% if b %}{% set n = 1 %}{% endif %}{{ n }}", "{% if c %}{% set n = 1 %}{% endif %}{{ n }}",
    "{% if c %}{% set n = 1 %}{% else %}{% set n = 2 %}{% endif %}{{ n }}", "{% generation %}{{ n }}{% endgeneration %}{% set n = 1 %}{{ n }}",
    "{% generation %}{{ n }}{% endgeneration %}{% if c %}{% set n = 1 %}{% endif %}{{ n }}", "{% with %}{{ n }}{% set n = 1 %}{% endwith %}{{ n }}", "{% for n in k %}{{ n }}{% endfor %}{{ n }}",
]
BEFORE = ["", "{% set n = 4 %}", "{% if c %}{% set n = 4 %}{% endif %}"]
AFTER = [
    "", "{{ n }}", "{% set n = 5 %}{{ n }}", "{% set n, a = 5, 6 %}", "{% if c %}{% set n = 5 %}{% endif %}{{ n }}", "{% macro n() %}{% endmacro %}", "{% set n %}{% endset %}",
    "{% for n in x %}{% endfor %}", "{% with n = 1 %}{% endwith %}", "{% generation %}{% set n = 5 %}{% endgeneration %}",
]


def combinations():
    """Each filter, test, method, operator, slice and format with each value; each frame with each order of assignments."""
    for frame in FRAMES:
        for body in BODIES:
            for before in BEFORE:
                for after in AFTER:
                    yield before + frame.replace("B", body) + after
    for name, arguments in ARGUMENTS.items():
        for own in arguments:
            call = f"({own})" if own else ""
            for value in VALUES:
                yield "{{ %s | %s%s }}" % (value, name, call)
                if name in ("map", "select", "reject", "selectattr", "rejectattr", "batch", "slice", "unique", "items", "reverse"):
                    yield "{{ %s | %s%s | list }}" % (value, name, call)
    for name, arguments in TESTS.items():
        for own in arguments:
            for value in VALUES:
                yield "{{ %s is %s%s }}" % (value, name, own)
    for name, arguments in METHODS.items():
        for own in arguments:
            for value in VALUES:
                yield "{{ %s.%s(%s) }}" % (value, name, own)
    for operator in OPERATORS:
        for left in VALUES:
            for right in VALUES[::3] + ["l", "s", "n", "2"]:
                yield "{{ %s %s %s }}" % (left, operator, right)
    for value in ("s", "l", "(1, 2, 3)", "range(5)"):
        for start in BOUNDS:
            for stop in BOUNDS:
                for step in STEPS:
                    yield "{{ %s[%s:%s:%s] }}" % (value, start, stop, step)
    for text in PERCENT:
        for value in VALUES + ["(5, 3)", "65", "-1234567", "0.00001234", "123456789.125"]:
            yield "{{ '%s' %% %s }}" % (text, value)
    for text in BRACES:
        for value in VALUES + ["(5, 3)", "65", "-1234567", "0.00001234", "123456789.125"]:
            yield "{{ '%s'.format(%s) }}" % (text, value)


class Draw:
    """Draws templates."""

    def __init__(self, seed):
        self.own = random.Random(seed)

    def expression(self, depth):
        pick = self.own.choice
        if depth <= 0 or self.own.random() < 0.2:
            return pick(VALUES + ["1", "2", "'a'", "' '", "true", "none", "[]", "{}", "i"])
        kind = self.own.randrange(12)
        one = lambda: self.expression(depth - 1)
        if kind < 3:
            name = pick([own for own in ARGUMENTS if own != "pprint"])
            own = pick(ARGUMENTS[name])
            return f"({one()} | {name}{f'({own})' if own else ''})"
        if kind < 5:
            name = pick(list(METHODS))
            return f"({one()}).{name}({pick(METHODS[name])})"
        if kind == 5:
            name = pick([own for own in TESTS if TESTS[own]])
            return f"({one()} is {'not ' if self.own.random() < 0.3 else ''}{name}{pick(TESTS[name])})"
        if kind < 8:
            return f"({one()} {pick(OPERATORS)} {one()})"
        if kind == 8:
            # jinja2 folds slices of constants, which then do not fail.
            return f"({pick(VALUES[:22])})[{pick(BOUNDS)}:{pick(BOUNDS)}:{pick(STEPS)}]"
        if kind == 9:
            return f"({one()} if {one()} else {one()})"
        if kind == 10:
            return pick(["[{}, {}]", "({}, {})", "{{'z': {}, 'y': {}}}"]).format(one(), one())
        return f"({one()})[{pick(['0', '-1', one()])}]"

    def body(self, depth):
        return "".join(self.statement(depth) for _ in range(self.own.randrange(1, 4)))

    def statement(self, depth):
        pick = self.own.choice
        sign = lambda: pick(["", "", "-", "+"])
        block = lambda text: "{%" + sign() + f" {text} " + pick(["", "", "-"]) + "%}"
        space = pick(["", " ", "\n", "\n  ", "  x\n"])
        one = lambda: self.expression(pick([1, 1, 2, 3]))
        kind = self.own.randrange(10) if depth > 0 else 0
        if kind < 3:
            return space + "{{" + pick(["", "", "-"]) + f" {one()} " + pick(["", "", "-"]) + "}}"
        inner = lambda: self.body(depth - 1)
        if kind == 3:
            return space + block(f"if {one()}") + inner() + block("else") + inner() + block("endif")
        if kind == 4:
            condition = f" if {one()}" if self.own.random() < 0.3 else ""
            return space + block(f"for i in {one()}{condition}") + inner() + "{{ loop.index }}" + block("endfor")
        if kind == 5:
            return space + block(f"set {pick(['i', 'i', 'n', 's'])} = {one()}") + inner() + "{{ i }}"
        if kind == 6:
            return space + block("set i") + inner() + block("endset") + "{{ i }}"
        if kind == 7:
            return space + block(f"macro g(i, j={one()})") + inner() + block("endmacro") + "{{ g(" + one() + ") }}"
        if kind == 8:
            return space + block(pick(["filter upper", "filter trim", f"filter default({one()})"])) + inner() + block("endfilter")
        return space + block("generation") + inner() + block("endgeneration")


LEFT_OUT = re.compile(r" at 0x|<built-in|<bound|<function|<class|<method|<generator|<list_rev|<reversed|<range_it|<dict_rev|<Macro|object>|\d{19,}|j\)|<transformers|<jinja2|LoopContext|TemplateReference|Markup\(|\{[\[(']*\(|set\(", re.IGNORECASE)


def rendered(template):
    try:
        return _compile_jinja_template(template).render(**copy.deepcopy(VARIABLES))
    except RecursionError:
        return None
    except Exception:
        return None


def main(path, seed, count, stride):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.write(json.dumps(VARIABLES, ensure_ascii=False) + "\n")
        draw = Draw(seed)
        drawn = (draw.body(3) for _ in range(count))
        combined = list(combinations())[::stride]
        for template in STATEMENTS + combined + list(drawn):
            text = rendered(template)
            if text is not None and (LEFT_OUT.search(text) or len(text) > 20000):
                continue
            try:
                line = json.dumps([template, text], ensure_ascii=False)
                line.encode()
            except UnicodeEncodeError:
                continue
            out.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
