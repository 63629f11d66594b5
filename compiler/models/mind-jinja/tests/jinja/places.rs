//! Errors are at the place in the template as it is written.

use mind_jinja::Template;

/// The text of the template that an error is about, and its message.
fn failing(text: &str) -> (&str, String) {
    let rendered = Template::parse(text).and_then(|own| own.render(Vec::new(), 10_000));
    let why = rendered.expect_err("an error");
    (
        &text[why.range().expect("a place")],
        why.message().to_owned(),
    )
}

#[test]
fn errors_have_the_innermost_place() {
    let cases = [
        (
            "a\n{{ 1 + 'a' }}",
            "1 + 'a'",
            "unsupported operand type(s) for +: 'int' and 'str'",
        ),
        (
            "a\r\n\r\n{{ nothing.x }}\r\n",
            "x",
            "'nothing' is undefined",
        ),
        (
            "{{ [1, 2 | nothing] }}",
            "nothing",
            "no filter is called `nothing`",
        ),
        ("{% if x %}\n{{ y }", "}", "`}` closes nothing"),
        (
            "{% for a, b in [1] %}{% endfor %}",
            "a, b",
            "cannot unpack non-iterable int object",
        ),
        (
            "{% macro f(a) %}{{ a.b.c }}{% endmacro %}\n{{ f('é') }}",
            "c",
            "'str object' has no attribute 'b'",
        ),
        (
            "{% include 'a' %}",
            "include",
            "`include` needs another template, and there is none",
        ),
        ("é{# a", "{#", "the comment has no end, which is `#}`"),
        (
            "{% if true %}a",
            "%}",
            "the block has no end, expected `elif` or `else` or `endif`",
        ),
    ];
    for (text, place, message) in cases {
        assert_eq!(failing(text), (place, message.to_owned()), "{text}");
    }
}
