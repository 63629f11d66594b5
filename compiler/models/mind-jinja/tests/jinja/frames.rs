//! Variables of frames: a name that the frame assigns first is undefined until then.

use mind_jinja::{Template, Value};

/// The text of `template` for the variables `n` = 7, `b` = true, `c` = false and `l` = [1, 2].
fn rendered(template: &str) -> String {
    let variables = vec![
        ("n", Value::Int(7)),
        ("b", Value::Bool(true)),
        ("c", Value::Bool(false)),
        ("l", Value::list([Value::Int(1), Value::Int(2)])),
    ];
    let text = Template::parse(template).and_then(|own| own.render(variables, 1000));
    text.unwrap_or_else(|why| panic!("{template}: {}", why.message()))
}

/// Renders each template and compares it with the text that jinja2 3.1.6 gives.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (template, expected) in cases {
        assert_eq!(rendered(template), *expected, "{template}");
    }
}

#[test]
fn a_variable_assigned_later_is_undefined_in_each_inner_frame() {
    for frame in [
        "{% filter upper %}<{{ n }}>{% endfilter %}",
        "{% for i in [1] %}<{{ n }}>{% endfor %}",
        "{% for i in [] %}{% else %}<{{ n }}>{% endfor %}",
        "{% with a = 1 %}<{{ n }}>{% endwith %}",
        "{% macro g() %}<{{ n }}>{% endmacro %}{{ g() }}",
        "{% macro h() %}{{ caller() }}{% endmacro %}{% call h() %}<{{ n }}>{% endcall %}",
        "{% generation %}<{{ n }}>{% endgeneration %}",
        "{% autoescape false %}<{{ n }}>{% endautoescape %}",
        "{% set a %}<{{ n }}>{% endset %}{{ a }}",
    ] {
        for assignment in [
            "{% set n = 5 %}",
            "{% set a, n = 5, 6 %}",
            "{% set n %}{% endset %}",
            "{% macro n() %}{% endmacro %}",
        ] {
            assert_eq!(
                rendered(&format!("{frame}{assignment}")),
                "<>",
                "{frame}{assignment}"
            );
        }
        for other in [
            "",
            "{{ n * 0 }}",
            "{% if c %}{% set n = 5 %}{% endif %}",
            "{% if c %}{% set n = 5 %}{% else %}{% set n = 6 %}{% endif %}",
            "{% for n in [] %}{% endfor %}",
            "{% with n = 1 %}{% endwith %}",
            "{% generation %}{% set n = 5 %}{% endgeneration %}",
        ] {
            let text = rendered(&format!("{frame}{other}"));
            assert_eq!(text.trim_end_matches('0'), "<7>", "{frame}{other}");
        }
    }
}

#[test]
fn the_first_mention_in_a_frame_decides() {
    check(&[
        // An inner frame that mentions the name is bound to it, and the enclosing frame does not mention it.
        (
            "{% with %}{% generation %}{{ n }}{% endgeneration %}{% set n = 1 %}{{ n }}{% endwith %}{% generation %}{{ n }}{% endgeneration %}",
            "17",
        ),
        (
            "{{ n }}{% with %}{% generation %}{{ n }}{% endgeneration %}{% set n = 1 %}{{ n }}{% endwith %}",
            "771",
        ),
        ("{% set n = n + 1 %}{{ n }}", "8"),
        (
            "{% for i in l %}{{ n }}{% set n = i %}{{ n }}{% endfor %}",
            "7172",
        ),
        (
            "{% for i in l %}{% generation %}{{ n }}{% endgeneration %}{% set n = i %}{% endfor %}",
            "",
        ),
    ]);
}

#[test]
fn filters_of_a_block_read_the_variables_of_its_body() {
    check(&[
        (
            "{% filter replace('7', n) %}{% set n = '8' %}7{% endfilter %}",
            "8",
        ),
        (
            "{% set a = n %}{% set a | replace('7', n) %}{% set n = '8' %}7{% endset %}{{ a }}",
            "8",
        ),
    ]);
}

#[test]
fn a_default_reads_all_given_arguments() {
    check(&[
        ("{% macro g(a=n, n=3) %}{{ a }}{% endmacro %}{{ g() }}", ""),
        (
            "{% macro g(a=n, n=3) %}{{ a }}{% endmacro %}{{ g(n=4) }}",
            "4",
        ),
        ("{% macro g(n, a=n) %}{{ a }}{% endmacro %}{{ g(2) }}", "2"),
    ]);
}

#[test]
fn a_block_reads_the_variables_of_the_template() {
    check(&[
        (
            "{% for n in l %}{% block a %}{{ n }}{% endblock %}{% endfor %}",
            "77",
        ),
        (
            "{% for n in l %}{% block a scoped %}{{ n }}{% endblock %}{% endfor %}",
            "12",
        ),
        (
            "{% set n = 1 %}{% with n = 2 %}{% block a %}{{ n }}{% endblock %}{% endwith %}",
            "1",
        ),
        ("{% block a %}{{ n }}{% endblock %}{% set n = 1 %}", "7"),
    ]);
    for refused in [
        "{% block a %}{% endblock %}{% block a %}{% endblock %}",
        "{% block a %}{% endblock b %}",
    ] {
        assert!(Template::parse(refused).is_err(), "{refused}");
    }
}

#[test]
fn views_of_dictionaries_compare_as_sets() {
    check(&[
        (
            "{% set d = {'a': 1, 'b': [2]} %}{{ d.items() >= d.items() }}{{ d.keys() > {'a': 2}.keys() }}",
            "TrueTrue",
        ),
        (
            "{{ {'a': 1}.keys() == {'a': 2}.keys() }}{{ {'a': 1}.items() == {'a': 2}.items() }}",
            "TrueFalse",
        ),
        (
            "{{ {'a': 1}.keys() < {'b': 1}.keys() }}{{ {'a': 1}.keys() <= {'b': 1, 'a': 2}.keys() }}",
            "FalseTrue",
        ),
    ]);
}
