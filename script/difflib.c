/* difflib.ndiff in scripts, and compute_diff, which prints it: how two texts differ, line by line, as Python's Differ shows it. Lines that are
   much alike stand together, with marks below the characters that differ. */
#include <stdlib.h>
#include <string.h>

#include "script/builtins.h"
#include "script/text.h"
#include "support/strbuf.h"

/* Steps of one comparison; more would take seconds. */
enum { MOST_STEPS = 2000000000 };
/* From this length on, what stands in a sequence too often begins no match. */
enum { LONG_SEQUENCE = 200 };

/* Lines or characters, as numbers. */
typedef struct {
    const int *items;
    int count;
} Lines;
typedef struct {
    int a, b, size;
} Match;
typedef VEC(Match) MatchList;

typedef struct {
    Script *script;
    Arena *arena;
    const Str *a_lines, *b_lines;
    Lines *a_texts, *b_texts; /* the characters of each line */
    VEC(Value) result;
    long steps;
} Differ;

typedef struct {
    Differ *differ;
    Lines a, b;
    bool blanks_are_junk;
    bool *popular; /* of b: no match begins there */
    int *lengths, *next; /* of the matches that end at an item of b; one more in front */
} Matcher;

static bool spend(Differ *differ, long steps)
{
    differ->steps += steps;
    return differ->steps <= MOST_STEPS;
}

static int compare_items(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

static bool is_junk(const Matcher *matcher, int item)
{
    return matcher->blanks_are_junk && (item == ' ' || item == '\t');
}

/* Items of a long B that make up more than a hundredth of it. */
static void find_popular(Matcher *matcher)
{
    int count = matcher->b.count, most = count / 100 + 1;
    int *sorted = arena_copy(matcher->differ->arena, matcher->b.items, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_items);
    for (int i = 0; i < count; i++) {
        int low = 0, high = count;
        for (int end; low < high;) {
            end = (low + high) / 2;
            if (sorted[end] < matcher->b.items[i])
                low = end + 1;
            else
                high = end;
        }
        matcher->popular[i] = low + most < count && sorted[low + most] == matcher->b.items[i];
    }
}

static Matcher matcher_new(Differ *differ, Lines a, Lines b, bool blanks_are_junk)
{
    Matcher matcher = {differ, a, b, blanks_are_junk, ARENA_ARRAY(differ->arena, bool, b.count + 1),
                       ARENA_ARRAY(differ->arena, int, b.count + 2), ARENA_ARRAY(differ->arena, int, b.count + 2)};
    if (b.count >= LONG_SEQUENCE)
        find_popular(&matcher);
    return matcher;
}

/* Extends MATCH by equal items that are junk, or are none, at both ends. */
static void extend(const Matcher *matcher, Match low, Match high, Match *match, bool junk)
{
    const int *a = matcher->a.items, *b = matcher->b.items;
    while (match->a > low.a && match->b > low.b && is_junk(matcher, b[match->b - 1]) == junk && a[match->a - 1] == b[match->b - 1])
        *match = (Match){match->a - 1, match->b - 1, match->size + 1};
    while (match->a + match->size < high.a && match->b + match->size < high.b &&
           is_junk(matcher, b[match->b + match->size]) == junk && a[match->a + match->size] == b[match->b + match->size])
        match->size++;
}

/* The longest match between LOW and HIGH, the first of several; of size 0 where there is none, or where the comparison takes too long. */
static Match longest_match(Matcher *matcher, Match low, Match high)
{
    Match best = {low.a, low.b, 0};
    int width = high.b - low.b;
    if (!spend(matcher->differ, (long)(high.a - low.a) * width))
        return best;
    memset(matcher->lengths + low.b, 0, (size_t)(width + 1) * sizeof *matcher->lengths);
    for (int i = low.a; i < high.a; i++) {
        int item = matcher->a.items[i], *swapped = matcher->lengths;
        matcher->next[low.b] = 0;
        for (int j = low.b; j < high.b; j++) {
            bool same = item == matcher->b.items[j] && !matcher->popular[j] && !is_junk(matcher, item);
            matcher->next[j + 1] = same ? matcher->lengths[j] + 1 : 0;
            if (matcher->next[j + 1] > best.size)
                best = (Match){i - matcher->next[j + 1] + 1, j - matcher->next[j + 1] + 1, matcher->next[j + 1]};
        }
        matcher->lengths = matcher->next;
        matcher->next = swapped;
    }
    extend(matcher, low, high, &best, false);
    extend(matcher, low, high, &best, true);
    return best;
}

static void add_match(Matcher *matcher, Match match, MatchList *list)
{
    Match *last = list->count ? &list->data[list->count - 1] : NULL;
    if (last && last->a + last->size == match.a && last->b + last->size == match.b)
        last->size += match.size;
    else
        vec_push(matcher->differ->arena, list, match);
}

/* The matches between LOW and HIGH in their order, adjacent ones as one. What is left is kept on a list, not on the stack. */
static void find_matches(Matcher *matcher, MatchList *list)
{
    typedef struct {
        Match low, high;
        bool found; /* LOW is a match, to be added */
    } Task;
    Arena *arena = matcher->differ->arena;
    VEC(Task) tasks = {0};
    vec_push(arena, &tasks, ((Task){{0, 0, 0}, {matcher->a.count, matcher->b.count, 0}, false}));
    while (tasks.count) {
        Task task = vec_pop(&tasks);
        if (task.found) {
            add_match(matcher, task.low, list);
            continue;
        }
        if (task.low.a >= task.high.a || task.low.b >= task.high.b)
            continue;
        Match match = longest_match(matcher, task.low, task.high);
        if (!match.size)
            continue;
        vec_push(arena, &tasks, ((Task){{match.a + match.size, match.b + match.size, 0}, task.high, false}));
        vec_push(arena, &tasks, ((Task){match, match, true}));
        vec_push(arena, &tasks, ((Task){task.low, match, false}));
    }
    add_match(matcher, (Match){matcher->a.count, matcher->b.count, 0}, list);
}

/* --- the lines of the result --- */

static void add_line(Differ *differ, char tag, const char *text, const char *end)
{
    StrBuf line = {.arena = differ->arena};
    strbuf_printf(&line, "%c %s%s", tag, text, end);
    vec_push(differ->arena, &differ->result, script_string(differ->script, strbuf_text(&line)));
}

static void dump(Differ *differ, char tag, const Str *lines, int low, int high)
{
    for (int i = low; i < high; i++)
        add_line(differ, tag, lines[i], "");
}

static void plain_replace(Differ *differ, Match low, Match high)
{
    bool b_first = high.b - low.b < high.a - low.a;
    if (b_first)
        dump(differ, '+', differ->b_lines, low.b, high.b);
    dump(differ, '-', differ->a_lines, low.a, high.a);
    if (!b_first)
        dump(differ, '+', differ->b_lines, low.b, high.b);
}

/* The marks below a line; blanks between them are those of the line. */
static void add_marks(Differ *differ, Lines text, char *marks)
{
    int length = 0;
    for (int i = 0; i < text.count; i++) {
        bool space = text.items[i] == ' ' || (text.items[i] >= '\t' && text.items[i] <= '\r');
        if (marks[i] != ' ')
            length = i + 1;
        else if (space)
            marks[i] = (char)text.items[i];
    }
    marks[length] = '\0';
    if (length)
        add_line(differ, '?', marks, "\n");
}

static char *blank_marks(Differ *differ, int count)
{
    char *marks = ARENA_ARRAY(differ->arena, char, count + 1);
    memset(marks, ' ', (size_t)count);
    return marks;
}

/* Line A and line B, which are alike, with marks below what differs. */
static void mark_lines(Differ *differ, int a, int b)
{
    Lines left = differ->a_texts[a], right = differ->b_texts[b];
    Matcher matcher = matcher_new(differ, left, right, true);
    MatchList matches = {0};
    find_matches(&matcher, &matches);
    char *left_marks = blank_marks(differ, left.count), *right_marks = blank_marks(differ, right.count);
    int i = 0, j = 0;
    for (int m = 0; m < matches.count; m++) {
        Match match = matches.data[m];
        bool both = i < match.a && j < match.b;
        memset(left_marks + i, both ? '^' : '-', (size_t)(match.a - i));
        memset(right_marks + j, both ? '^' : '+', (size_t)(match.b - j));
        i = match.a + match.size;
        j = match.b + match.size;
    }
    add_line(differ, '-', differ->a_lines[a], "");
    add_marks(differ, left, left_marks);
    add_line(differ, '+', differ->b_lines[b], "");
    add_marks(differ, right, right_marks);
}

/* --- lines that are alike --- */

static double ratio_of(long matches, const Lines *a, const Lines *b)
{
    return a->count + b->count ? 2.0 * (double)matches / (a->count + b->count) : 1.0;
}

/* How many items A and B have in common, whatever their order. */
static long common_items(Differ *differ, Lines a, Lines b)
{
    int *left = arena_copy(differ->arena, a.items, (size_t)a.count * sizeof *left), *right = arena_copy(differ->arena, b.items, (size_t)b.count * sizeof *right);
    qsort(left, (size_t)a.count, sizeof *left, compare_items);
    qsort(right, (size_t)b.count, sizeof *right, compare_items);
    long common = 0;
    for (int i = 0, j = 0; i < a.count && j < b.count;) {
        common += left[i] == right[j];
        int order = compare_items(&left[i], &right[j]);
        i += order <= 0;
        j += order >= 0;
    }
    return common;
}

/* How much A and B are alike, if more than BEST; else at most BEST. */
static double similarity(Differ *differ, Lines a, Lines b, double best)
{
    long shorter = a.count < b.count ? a.count : b.count;
    if (!spend(differ, 1) || ratio_of(shorter, &a, &b) <= best || !spend(differ, 8L * (a.count + b.count)) ||
        ratio_of(common_items(differ, a, b), &a, &b) <= best)
        return 0;
    Matcher matcher = matcher_new(differ, a, b, true);
    MatchList matches = {0};
    find_matches(&matcher, &matches);
    long size = 0;
    for (int i = 0; i < matches.count; i++)
        size += matches.data[i].size;
    return ratio_of(size, &a, &b);
}

static void replace(Differ *differ, Match low, Match high);

static void replace_or_dump(Differ *differ, Match low, Match high)
{
    if (low.a < high.a && low.b < high.b)
        replace(differ, low, high);
    else {
        dump(differ, '-', differ->a_lines, low.a, high.a);
        dump(differ, '+', differ->b_lines, low.b, high.b);
    }
}

/* The lines between LOW and HIGH of both texts: the two that are most alike stand together, what is before and behind them is dealt with in
   the same way. */
static void replace(Differ *differ, Match low, Match high)
{
    double best = 0.74;
    Match pair = {-1, -1, 0}, equal = {-1, -1, 0};
    for (int j = low.b; j < high.b; j++)
        for (int i = low.a; i < high.a; i++) {
            if (differ->a_lines[i] == differ->b_lines[j]) {
                equal = equal.a < 0 ? (Match){i, j, 0} : equal;
                continue;
            }
            double ratio = similarity(differ, differ->a_texts[i], differ->b_texts[j], best);
            if (ratio > best) {
                best = ratio;
                pair = (Match){i, j, 0};
            }
        }
    bool alike = pair.a >= 0 && best >= 0.75;
    if ((!alike && equal.a < 0) || !spend(differ, 0)) {
        plain_replace(differ, low, high);
        return;
    }
    pair = alike ? pair : equal;
    replace_or_dump(differ, low, pair);
    if (alike)
        mark_lines(differ, pair.a, pair.b);
    else
        add_line(differ, ' ', differ->a_lines[pair.a], "");
    replace_or_dump(differ, (Match){pair.a + 1, pair.b + 1, 0}, high);
}

/* --- the comparison --- */

/* The characters of TEXT, which is UTF-8; a byte that is none stands for itself. */
static Lines characters(Arena *arena, const char *text)
{
    int *items = ARENA_ARRAY(arena, int, strlen(text) + 1), count = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; count++) {
        int more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc0 ? 1 : 0;
        items[count] = *c++;
        for (; more && (*c & 0xc0) == 0x80; more--)
            items[count] = items[count] * 64 + (*c++ & 0x3f);
    }
    return (Lines){items, count};
}

/* Equal lines get equal numbers: the place in the list of all where the line stands first. */
static Lines numbers(Arena *arena, Map *known, const Str *lines, int count)
{
    int *items = ARENA_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        int *number = map_get(known, lines[i]);
        if (!number) {
            number = ARENA_NEW(arena, int);
            *number = known->count;
            map_set(arena, known, lines[i], number);
        }
        items[i] = *number;
    }
    return (Lines){items, count};
}

static const Str *lines_of(Script *script, Value value, Span span, Lines **texts)
{
    const ValueList *list = value.kind == VALUE_LIST ? value.as.list : NULL;
    Str *lines = ARENA_ARRAY(script->ctx->arena, Str, list ? list->count + 1 : 1);
    *texts = ARENA_ARRAY(script->ctx->arena, Lines, list ? list->count + 1 : 1);
    for (int i = 0; list && i < list->count; i++) {
        if (list->items[i].kind != VALUE_STRING) {
            script_error(script, span, "ndiff compares lists of strings; item %d is %s", i, script_type_phrase(script, list->items[i]));
            return NULL;
        }
        lines[i] = context_intern(script->ctx, list->items[i].as.text);
        (*texts)[i] = characters(script->ctx->arena, lines[i]);
    }
    if (!list)
        script_error(script, span, "ndiff compares lists of strings, not %s", script_type_phrase(script, value));
    return list ? lines : NULL;
}

static bool compare(Script *script, Value a, Value b, Span span, Value *result)
{
    Differ differ = {.script = script, .arena = script->ctx->arena};
    if (!(differ.a_lines = lines_of(script, a, span, &differ.a_texts)) || !(differ.b_lines = lines_of(script, b, span, &differ.b_texts)))
        return false;
    Map known = {0};
    Lines left = numbers(differ.arena, &known, differ.a_lines, a.as.list->count),
             right = numbers(differ.arena, &known, differ.b_lines, b.as.list->count);
    Matcher matcher = matcher_new(&differ, left, right, false);
    MatchList matches = {0};
    find_matches(&matcher, &matches);
    Match low = {0, 0, 0};
    for (int i = 0; i < matches.count; i++) {
        Match match = matches.data[i];
        replace_or_dump(&differ, low, match);
        dump(&differ, ' ', differ.a_lines, match.a, match.a + match.size);
        low = (Match){match.a + match.size, match.b + match.size, 0};
    }
    if (!spend(&differ, 0))
        return script_error(script, span, "the texts are too long to be compared line by line");
    script->made += 4L * differ.result.count;
    *result = script_list(script, differ.result.data, differ.result.count, false);
    return true;
}

bool script_ndiff(Script *script, const Arguments *arguments, Value *result)
{
    if (arguments->positional_count != 2 || arguments->keyword_count)
        return script_error(script, arguments->span, "ndiff takes two lists of lines");
    return compare(script, arguments->positional[0], arguments->positional[1], arguments->span, result);
}

static Value split_lines(Script *script, const char *text)
{
    VEC(Value) lines = {0};
    for (const char *end; text; text = *end ? end + 1 : NULL) {
        end = text + strcspn(text, "\n");
        vec_push(script->ctx->arena, &lines, script_string(script, context_internf(script->ctx, "%.*s", (int)(end - text), text)));
    }
    return script_list(script, lines.data, lines.count, false);
}

bool builtin_compute_diff(Script *script, const Arguments *arguments, Value *result)
{
    Value delta;
    for (int i = 0; i < 2; i++)
        if (arguments->positional[i].kind != VALUE_STRING)
            return script_error(script, arguments->span, "compute_diff compares two texts; argument %d is %s", i,
                                script_type_phrase(script, arguments->positional[i]));
    if (!compare(script, split_lines(script, arguments->positional[0].as.text), split_lines(script, arguments->positional[1].as.text),
                 arguments->span, &delta))
        return false;
    for (int i = 0; i < delta.as.list->count; i++)
        fprintf(script->options->out, "%s\n", delta.as.list->items[i].as.text);
    *result = value_none();
    return true;
}
