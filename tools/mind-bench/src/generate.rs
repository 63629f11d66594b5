//! Generated modules of any size.

use std::fmt::Write;

/// A module of about `ops` ops as mic@1: layers of matmul, bias, relu and residual between chains of
/// elementwise ops, of which one in ten repeats an earlier one, one in ten is an identity and one in
/// twenty is dead. Deterministic.
pub fn layered(ops: usize) -> String {
    let mut text = String::from(
        "mic@1\nT0 [f32;64,64]\nT1 [f32;64]\nT2 f32\nN0 param \"x\" T0\nN1 param \"w\" T0\n\
         N2 param \"b\" T1\nN3 const.f32 1.0 T2\n",
    );
    let mut next = 4;
    let mut node = |text: &mut String, line: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "N{next} {line}");
        next += 1;
        next - 1
    };
    let (mut x, mut step, mut previous) = (0, 0usize, None);
    let mut made = 0;
    while made < ops {
        step += 1;
        match step % 20 {
            0 | 10 => {
                let product = node(&mut text, format_args!("matmul N{x} N1 T0"));
                let biased = node(&mut text, format_args!("add N{product} N2 T0"));
                let active = node(&mut text, format_args!("relu N{biased} T0"));
                x = node(&mut text, format_args!("add N{active} N{x} T0"));
                made += 4;
            }
            3 | 13 => {
                x = node(&mut text, format_args!("mul N{x} N3 T0"));
                made += 1;
            }
            7 => {
                node(&mut text, format_args!("exp N{x} T0"));
                made += 1;
            }
            5 | 15 if previous.is_some() => {
                let (lhs, rhs) = previous.unwrap_or_default();
                let again = node(&mut text, format_args!("add N{lhs} N{rhs} T0"));
                x = node(&mut text, format_args!("mul N{x} N{again} T0"));
                made += 2;
            }
            4 | 14 => {
                let sum = node(&mut text, format_args!("add N{x} N0 T0"));
                previous = Some((x, 0));
                x = node(&mut text, format_args!("sub N{sum} N{x} T0"));
                made += 2;
            }
            _ => {
                x = node(&mut text, format_args!("relu N{x} T0"));
                x = node(&mut text, format_args!("add N{x} N0 T0"));
                made += 2;
            }
        }
    }
    let _ = writeln!(text, "O N{x}");
    text
}
