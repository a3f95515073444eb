/* The roofline plot: operations in a second over operations for each byte of the arguments, both scales logarithmic. */
#include "bench/bench.h"

#include <math.h>

enum { WIDTH = 900, HEIGHT = 620, LEFT = 70, RIGHT = 250, TOP = 40, BOTTOM = 60, LEGEND_STEP = 16 };

typedef struct {
    double low_x, high_x, low_y, high_y; /* powers of two */
} Scale;

static double place_x(const Scale *scale, double intensity)
{
    return LEFT + (log2(intensity) - scale->low_x) / (scale->high_x - scale->low_x) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const Scale *scale, double rate)
{
    return HEIGHT - BOTTOM - (log2(rate) - scale->low_y) / (scale->high_y - scale->low_y) * (HEIGHT - TOP - BOTTOM);
}

/* Text as XML has it */
static void write_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

static double rate_of(const Measured *work, const Contender *contender)
{
    return work->flops / summarize(contender->seconds, work->rounds).median * 1e-9;
}

/* A scale that holds all points, and the ridge of the roofs. */
static Scale scale_of(const Measured *const *works, int count, double peak, double copy)
{
    Scale scale = {floor(log2(peak / copy)) - 2, ceil(log2(peak / copy)) + 2, floor(log2(peak)) - 3, ceil(log2(peak)) + 0.5};
    for (int i = 0; i < count; i++) {
        double intensity = log2(fmax(works[i]->flops / works[i]->bytes, 0x1p-8));
        scale.low_x = fmin(scale.low_x, floor(intensity) - 1);
        scale.high_x = fmax(scale.high_x, ceil(intensity) + 1);
        for (int c = 0; c < works[i]->count && works[i]->flops > 0; c++) {
            double rate = log2(rate_of(works[i], &works[i]->contenders[c]));
            scale.low_y = fmin(scale.low_y, floor(rate) - 1);
            scale.high_y = fmax(scale.high_y, ceil(rate));
        }
    }
    return scale;
}

static void write_axes(FILE *out, const Scale *scale)
{
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    for (double x = scale->low_x; x <= scale->high_x; x++)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", place_x(scale, exp2(x)), HEIGHT - BOTTOM + 18, exp2(x));
    for (double y = scale->low_y; y <= scale->high_y; y++)
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6, place_y(scale, exp2(y)) + 4, exp2(y));
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations for each byte of the arguments</text>\n", LEFT + (WIDTH - LEFT - RIGHT) / 2,
            HEIGHT - 16);
    fprintf(out, "<text x=\"%d\" y=\"%d\">GFLOP/s, medians of rounds; filled: tirc</text>\n", LEFT, TOP - 14);
}

/* The roofs, from the left edge to the ridge and on to the right edge. PEAK: GFLOP/s, COPY: GB/s. */
static void write_roofs(FILE *out, const Scale *scale, double peak, double copy)
{
    double start = fmax(exp2(scale->low_x), exp2(scale->low_y) / copy);
    fprintf(out, "<polyline fill=\"none\" stroke=\"#000\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", place_x(scale, start), place_y(scale, start * copy),
            place_x(scale, peak / copy), place_y(scale, peak), place_x(scale, exp2(scale->high_x)), place_y(scale, peak));
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">peak %.1f GFLOP/s, copy %.1f GB/s</text>\n", place_x(scale, exp2(scale->high_x)) - 4,
            place_y(scale, peak) - 6, peak, copy);
}

static void write_points(FILE *out, const Scale *scale, const Measured *work, int number)
{
    static const char *const COLOURS[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf"};
    const char *colour = COLOURS[(size_t)number % (sizeof COLOURS / sizeof *COLOURS)];
    double x = place_x(scale, work->flops / work->bytes);
    for (int i = work->count - 1; i >= 0; i--) {
        double rate = rate_of(work, &work->contenders[i]);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" stroke=\"%s\" fill=\"%s\"><title>", x, place_y(scale, rate), i == 0 ? 5 : 4, colour,
                i == 0 ? colour : "none");
        write_text(out, work->name);
        fprintf(out, ": %s, %.1f GFLOP/s</title></circle>\n", work->contenders[i].name, rate);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\" font-size=\"11\">", WIDTH - RIGHT + 10, TOP + LEGEND_STEP * (number + 1), colour);
    write_text(out, work->name);
    fprintf(out, "</text>\n");
}

void report_roofline(FILE *out, const Measured *const *works, int count)
{
    double peak = 1, copy = 1;
    for (int i = 0; i < count; i++) {
        peak = fmax(peak, summarize(works[i]->peak, works[i]->rounds).median * 1e-9);
        copy = fmax(copy, summarize(works[i]->copy, works[i]->rounds).median * 1e-9);
    }
    Scale scale = scale_of(works, count, peak, copy);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                 "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", WIDTH, HEIGHT);
    write_axes(out, &scale);
    write_roofs(out, &scale, peak, copy);
    for (int i = 0; i < count; i++)
        if (works[i]->flops > 0)
            write_points(out, &scale, works[i], i);
    fprintf(out, "</svg>\n");
}
