/* The table and the CSV file. */
#include "bench/bench.h"

bool bound_by_arithmetic(const Measured *measured)
{
    Summary peak = summarize(measured->peak, measured->rounds), copy = summarize(measured->copy, measured->rounds);
    return measured->flops / peak.median > measured->bytes / copy.median;
}

Summary share_of_roof(const Measured *measured, const Contender *contender)
{
    double least[MAX_ROUNDS]; /* the seconds that the roof allows */
    bool arithmetic = bound_by_arithmetic(measured);
    for (int i = 0; i < measured->rounds; i++)
        least[i] = arithmetic ? measured->flops / measured->peak[i] : measured->bytes / measured->copy[i];
    return summarize_ratios(least, contender->seconds, measured->rounds);
}

void report_table_head(FILE *out)
{
    fprintf(out, "Median [min, max] of the rounds. roof: peak, the multiply-add rate of one core, or copy, the rate of a copy of as many bytes; in the same\n"
                 "round. ratio: how many times as fast as this contender tirc's code is, in the same round.\n");
}

void report_table(FILE *out, const Measured *measured)
{
    Summary roof = bound_by_arithmetic(measured) ? summarize(measured->peak, measured->rounds) : summarize(measured->copy, measured->rounds);
    const char *unit = bound_by_arithmetic(measured) ? "GFLOP/s" : "GB/s", *name = bound_by_arithmetic(measured) ? "peak" : "copy";
    fprintf(out, "\n%s: %s %.1f %s [%.1f, %.1f], %d rounds\n", measured->name, name, roof.median * 1e-9, unit, roof.min * 1e-9, roof.max * 1e-9,
            measured->rounds);
    fprintf(out, "  %-10s %27s  %8s  %8s  %21s  %22s\n", "", "ms", "GFLOP/s", "GB/s", "share of the roof", "ratio");
    for (int i = 0; i < measured->count; i++) {
        const Contender *contender = &measured->contenders[i];
        Summary time = summarize(contender->seconds, measured->rounds), share = share_of_roof(measured, contender);
        Summary ratio = summarize_ratios(contender->seconds, measured->contenders[0].seconds, measured->rounds);
        fprintf(out, "  %-10s %8.4f [%7.4f, %7.4f]  %8.1f  %8.1f  %5.3f [%5.3f, %5.3f]  %6.2f [%5.2f, %6.2f]  %s\n", contender->name, time.median * 1e3,
                time.min * 1e3, time.max * 1e3, measured->flops / time.median * 1e-9, measured->bytes / time.median * 1e-9, share.median, share.min,
                share.max, ratio.median, ratio.min, ratio.max, contender->setting);
    }
    fflush(out);
}

void report_csv_head(FILE *out)
{
    fprintf(out, "kernel,contender,setting,rounds,flops,bytes,seconds_min,seconds_median,seconds_max,gflops,gbytes,roof,share_min,share_median,share_max,"
                 "ratio_min,ratio_median,ratio_max\n");
}

/* TEXT in quotes, as CSV has it */
static void write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    fputc('"', out);
}

void report_csv(FILE *out, const Measured *measured)
{
    for (int i = 0; i < measured->count; i++) {
        const Contender *contender = &measured->contenders[i];
        Summary time = summarize(contender->seconds, measured->rounds), share = share_of_roof(measured, contender);
        Summary ratio = summarize_ratios(contender->seconds, measured->contenders[0].seconds, measured->rounds);
        write_quoted(out, measured->name);
        fprintf(out, ",%s,%s,%d,%.0f,%.0f,%.9g,%.9g,%.9g,%.6g,%.6g,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", contender->name, contender->setting,
                measured->rounds, measured->flops, measured->bytes, time.min, time.median, time.max,
                measured->flops / time.median * 1e-9, measured->bytes / time.median * 1e-9, bound_by_arithmetic(measured) ? "peak" : "copy", share.min,
                share.median, share.max, ratio.min, ratio.median, ratio.max);
    }
    fflush(out);
}
