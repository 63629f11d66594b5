//! Every template ends in a text or an error.

use mind_jinja::{Template, Value};

fn refusal(text: &str) -> String {
    let rendered = Template::parse(text).and_then(|own| own.render(Vec::new(), 200_000));
    rendered.expect_err("an error").message().to_owned()
}

#[test]
fn steps_and_texts_have_limits() {
    let loops = "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}";
    assert!(refusal(loops).contains("more than 200000 steps"));
    let doubled = "{% set x = namespace(t='ab') %}{% for a in range(99) %}{% set x.t = x.t + x.t %}{% endfor %}";
    assert!(refusal(doubled).contains("bytes") || refusal(doubled).contains("steps"));
    for text in [
        "{{ 'a' * 999999999 }}",
        "{{ [1] * 999999999 }}",
        "{{ 'a'.center(999999999) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ ('a' * 9999999).replace('a', 'b' * 9999999) }}",
        "{{ 'a' | indent(999999999) }}",
        "{{ [1] | batch(999999999, 0) | list }}",
        "{{ 'x\\n' * 9999 | indent('y' * 99999) }}",
        "{{ '%.999999999f' % 1 }}",
    ] {
        refusal(text);
    }
}

#[test]
fn nesting_has_a_limit() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("not ", ""),
        ("-", ""),
        ("{1: ", "}"),
    ] {
        let text = format!("{{{{ {}1{} }}}}", open.repeat(5000), close.repeat(5000));
        assert!(refusal(&text).contains("levels of nesting"), "{open}");
    }
    for link in [
        " + 1",
        " ~ 1 + 1",
        "[0]",
        ".a",
        " | abs",
        " and 1",
        " or 1",
        " if 1 else 1",
        "()",
    ] {
        let text = format!("{{{{ 1{} }}}}", link.repeat(50_000));
        let why = refusal(&text);
        assert!(why.contains("more than"), "{link}: {why}");
    }
    let blocks = "{% if 1 %}".repeat(5000) + &"{% endif %}".repeat(5000);
    assert!(refusal(&blocks).contains("levels of nesting"));
    assert!(
        refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}").contains("within each other")
    );
    let grown = "{% set x = namespace(v=[]) %}{% for a in range(999) %}{% set x.v = [x.v] %}{% endfor %}{{ x.v }}";
    assert!(refusal(grown).contains("nested too deeply"));
    let own = "{% set x = namespace() %}{% set x.a = x %}{{ x }}";
    assert!(refusal(own).contains("nested too deeply"));
}

/// As deep as the limits allow, on the stack of a test.
#[test]
fn what_is_within_the_limits_is_rendered() {
    let nested = format!("{{{{ {}1{} }}}}", "(".repeat(30), ")".repeat(30));
    let chain = format!("{{{{ 1{} }}}}", " + 1".repeat(150));
    let calls = "{% macro f(a) %}{% if a %}{{ f(a - 1) }}{% endif %}x{% endmacro %}{{ f(40) }}";
    for (text, expected) in [
        (nested, "1".to_owned()),
        (chain, "151".to_owned()),
        (calls.to_owned(), "x".repeat(41)),
    ] {
        let own = Template::parse(&text).and_then(|own| own.render(Vec::new(), 200_000));
        assert_eq!(own, Ok(expected));
    }
}

#[test]
fn any_cut_of_a_template_is_read_or_refused() {
    let text = "{%- macro f(a, b='é\\u00e9') -%}{{ a[1:-1] | default('x', true) ~ {'k': [1.5e3, none]} }}{%- endmacro -%}\
                {% for a, b in d.items() if a is not none recursive %}{{ loop.index }}{# c #}{% raw %}{{{% endraw %}{% endfor %}";
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        for start in (0..end)
            .filter(|&start| text.is_char_boundary(start))
            .step_by(7)
        {
            if let Ok(own) = Template::parse(&text[start..end]) {
                let _ = own.render(vec![("d", Value::dict([]))], 10_000);
            }
        }
    }
}
