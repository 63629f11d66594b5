

/* To nearest, ties to even. */
MIND_HELPER uint16_t mind_f32_to_bf16(float x)
{
    const uint32_t bits = mind_bits_f32(x);
    if (x != x) {
        return (uint16_t)(bits >> 16 | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}


/* A number of 0 or more, rounded to odd: rounding it again to fewer bits is like rounding once. */
MIND_HELPER float mind_odd_f32(double x)
{
    const float near = (float)x;
    const uint32_t below = mind_bits_f32(near) - ((double)near > x);
    return mind_f32(below | ((double)near != x));
}


/* The smaller number, NaN if either is; -0 is below +0. */
MIND_HELPER double mind_min_f64(double x, double y)
{
    if (x != x || y != y) {
        return x != x ? x : y;
    }
    if (x == y) {
        return mind_bits_f64(x) >> 63 != 0 ? x : y;
    }
    return x < y ? x : y;
}


/* The larger number, NaN if either is; -0 is below +0. */
MIND_HELPER double mind_max_f64(double x, double y)
{
    if (x != x || y != y) {
        return x != x ? x : y;
    }
    if (x == y) {
        return mind_bits_f64(x) >> 63 != 0 ? y : x;
    }
    return x < y ? y : x;
}


/* The index if there is such an element of `extent`, otherwise -1. */
MIND_HELPER int64_t mind_place(int64_t index, int64_t extent)
{
    return index >= 0 && index < extent ? index : -1;
}


/* As well indices below 0, which count from the end. */
MIND_HELPER int64_t mind_place_from_end(int64_t index, int64_t extent)
{
    return mind_place(index < 0 ? index + extent : index, extent);
}


/* The nearest element; -1 if there is none. */
MIND_HELPER int64_t mind_place_clamped(int64_t index, int64_t extent)
{
    const int64_t below = index < extent ? index : extent - 1;
    return mind_place(below < 0 ? 0 : below, extent);
}


/* How many of `window` taps, `dilation` apart from `start` on, are below `limit`. */
MIND_HELPER int64_t mind_taps_below(int64_t start, int64_t limit, int64_t dilation, int64_t window)
{
    const int64_t taps = start < limit ? (limit - start - 1) / dilation + 1 : 0;
    return taps < window ? taps : window;
}


/* A place moved to the nearest one from `first` to `last`. */
MIND_HELPER double mind_within(double place, double first, double last)
{
    if (place < first) {
        return first;
    }
    return place > last ? last : place;
}


/* What is left of x when as many y as possible are taken from it, exactly; a negative rest is brought above zero by one
   more y, rounded. y is 1 or more. */
MIND_HELPER double mind_rest_f64(double x, double y)
{
    if (x - x != 0.0) {
        return x - x;
    }
    double rest = mind_abs_f64(x);
    double step = y;
    while (step <= rest * 0.5) {
        step *= 2.0;
    }
    for (; step >= y; step *= 0.5) {
        rest -= rest >= step ? step : 0.0;
    }
    return x < 0.0 && rest > 0.0 ? y - rest : rest;
}


/* Where a place ends up, from 0 to `last`, that is reflected at `low` and as far behind `last`. */
MIND_HELPER double mind_mirrored(double place, double last, double low)
{
    const double range = last - 2.0 * low;
    if (range == 0.0 || (place >= 0.0 && place <= last)) {
        return mind_within(place, 0.0, last);
    }
    const double round = mind_rest_f64(place - low, 2.0 * range);
    const double back = round > range ? 2.0 * range - round : round;
    return mind_within(low + back, 0.0, last);
}


/* A finite place, else NaN. */
MIND_HELPER double mind_finite_f64(double place)
{
    return place + (place - place);
}


/* The element at a whole place, -1 outside. */
MIND_HELPER int64_t mind_whole(double place, double last)
{
    return place >= 0.0 && place <= last ? (int64_t)place : -1;
}


/* The weights of four taps, of which the second is `part` before the place. */
MIND_HELPER void mind_cubic_weights(double part, double *weights)
{
    const double a = -0.75;
    for (int tap = 0; tap < 4; ++tap) {
        const double d = mind_abs_f64((tap - 1) - part);
        const double inner = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
        const double outer = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
        weights[tap] = d <= 1.0 ? inner : d < 2.0 ? outer : 0.0;
    }
}
