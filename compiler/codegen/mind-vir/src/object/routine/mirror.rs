//! Reflection of coordinates at the ends of an axis.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use crate::object::body::Body;

use super::element::{bits, double};

/// Generates the reflection of a coordinate into the range from 0 to the second number. It is reflected at the third
/// number and, symmetrically, after the second; for example, with 0 as the third number -1 becomes 1. Numbers are bits
/// of `f64`.
pub(super) fn write(body: &mut Body<'_>, numbers: [Value; 3]) -> Value {
    let [place, last, low] = numbers.map(|number| bits(body, types::F64, number));
    let (zero, two) = (double(body, 0.0), double(body, 2.0));
    let margin = body.ins().fmul(two, low);
    let range = body.ins().fsub(last, margin);
    let is_point = body.ins().fcmp(FloatCC::Equal, range, zero);
    let is_after = body.ins().fcmp(FloatCC::GreaterThanOrEqual, place, zero);
    let is_before = body.ins().fcmp(FloatCC::LessThanOrEqual, place, last);
    let is_inside = body.ins().band(is_after, is_before);
    let is_done = body.ins().bor(is_point, is_inside);
    let as_it_is = within(body, place, (zero, last));
    let as_it_is = bits(body, types::I64, as_it_is);
    body.return_if(is_done, as_it_is);

    let from_low = body.ins().fsub(place, low);
    let twice = body.ins().fmul(two, range);
    let round = rest(body, from_low, twice);
    let is_back = body.ins().fcmp(FloatCC::GreaterThan, round, range);
    let back = body.ins().fsub(twice, round);
    let round = body.ins().select(is_back, back, round);
    let place = body.ins().fadd(low, round);
    let place = within(body, place, (zero, last));
    bits(body, types::I64, place)
}

/// Clamps a coordinate to `first..=last`.
pub(super) fn within(body: &mut Body<'_>, place: Value, (first, last): (Value, Value)) -> Value {
    let is_before = body.ins().fcmp(FloatCC::LessThan, place, first);
    let is_after = body.ins().fcmp(FloatCC::GreaterThan, place, last);
    let place = body.ins().select(is_after, last, place);
    body.ins().select(is_before, first, place)
}

/// Returns the remainder of `x` by `y`, exact; a negative remainder is increased by `y`, rounded. `y` is 1 or more.
/// Returns NaN if `x` is NaN or infinite.
fn rest(body: &mut Body<'_>, x: Value, y: Value) -> Value {
    let (zero, half) = (double(body, 0.0), double(body, 0.5));
    let nothing = body.ins().fsub(x, x);
    let is_no_number = body.ins().fcmp(FloatCC::NotEqual, nothing, zero);
    let nan = bits(body, types::I64, nothing);
    body.return_if(is_no_number, nan);
    let magnitude = body.ins().fabs(x);
    let rest = body.variable(types::F64, magnitude);
    let step = body.variable(types::F64, y);
    body.open_while(|body| {
        let at_most = body.ins().fmul(magnitude, half);
        let step = body.get(step);
        body.ins().fcmp(FloatCC::LessThanOrEqual, step, at_most)
    });
    let now = body.get(step);
    let wider = body.ins().fadd(now, now);
    body.set(step, wider);
    body.close(1);
    body.open_while(|body| {
        let step = body.get(step);
        body.ins().fcmp(FloatCC::GreaterThanOrEqual, step, y)
    });
    let (left, now) = (body.get(rest), body.get(step));
    let fits = body.ins().fcmp(FloatCC::GreaterThanOrEqual, left, now);
    let taken = body.ins().select(fits, now, zero);
    let left = body.ins().fsub(left, taken);
    body.set(rest, left);
    let narrower = body.ins().fmul(now, half);
    body.set(step, narrower);
    body.close(1);
    let left = body.get(rest);
    let is_negative = body.ins().fcmp(FloatCC::LessThan, x, zero);
    let is_left = body.ins().fcmp(FloatCC::GreaterThan, left, zero);
    let is_below = body.ins().band(is_negative, is_left);
    let above = body.ins().fsub(y, left);
    body.ins().select(is_below, above, left)
}
