/* The methods of strings, as Python's. Positions count characters. */
#include "script/methods.h"
#include "script/text.h"

#include <ctype.h>
#include <string.h>

static const char *text_argument(Script *script, const Arguments *arguments, int index)
{
    Value value = arguments->positional[index];
    if (value.kind == VALUE_STRING)
        return value.as.text;
    script_raise(script, value.span, EXCEPTION_TypeError, "a string is needed here, not %s", script_type_phrase(script, value));
    return NULL;
}

static Str part_of(Script *script, const char *begin, size_t length)
{
    return context_internf(script->ctx, "%.*s", (int)length, begin);
}

static Value part(Script *script, const char *begin, size_t length)
{
    script->made += 1;
    return (Value){.kind = VALUE_STRING, .as.text = part_of(script, begin, length)};
}

static size_t byte_of(const char *text, int64_t character)
{
    size_t at = 0;
    for (; text[at] && character > 0; character--)
        for (at++; (text[at] & 0xC0) == 0x80; at++)
            continue;
    return at;
}

/* --- splitting and joining --- */

typedef VEC(Value) Parts;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* TEXT has no space beyond ASCII, which only Unicode knows. */
static bool check_spaces(Script *script, const char *text, Span span)
{
    static const char *const wide[] = {"\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80", "\xe2\x81\x9f", "\xe3\x80\x80"};
    bool found = false;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && !found; i++)
        for (const char *at = strstr(text, wide[i]); at && !found; at = strstr(at + 1, wide[i])) {
            unsigned char last = strlen(wide[i]) == 2 ? (unsigned char)at[2] : 0;
            found = *wide[i] != '\xe2' || !last || last <= 0x8a || last == 0xa8 || last == 0xa9 || last == 0xaf;
        }
    return !found || script_error(script, span, "only spaces of ASCII are known here");
}

static void split_spaces(Script *script, const char *text, int64_t most, Parts *parts)
{
    Arena *arena = script->ctx->arena;
    while (true) {
        while (is_space(*text))
            text++;
        size_t length = 0;
        if (!*text)
            return;
        if (parts->count == most) {
            vec_push(arena, parts, part(script, text, strlen(text)));
            return;
        }
        while (text[length] && !is_space(text[length]))
            length++;
        vec_push(arena, parts, part(script, text, length));
        text += length;
    }
}

static void split_at(Script *script, const char *text, const char *separator, int64_t most, Parts *parts)
{
    const char *next;
    while (parts->count != most && (next = strstr(text, separator))) {
        vec_push(script->ctx->arena, parts, part(script, text, (size_t)(next - text)));
        text = next + strlen(separator);
    }
    vec_push(script->ctx->arena, parts, part(script, text, strlen(text)));
}

static bool split_arguments(Script *script, const Arguments *arguments, const char **separator, int64_t *most)
{
    const Value *named = script_keyword(arguments, "sep"), *count = script_keyword(arguments, "maxsplit");
    Value first = arguments->positional_count ? arguments->positional[0] : named ? *named : value_none();
    *separator = first.kind == VALUE_STRING ? first.as.text : NULL;
    if (first.kind != VALUE_NONE && !(*separator && **separator))
        return script_raise(script, first.span, *separator ? EXCEPTION_ValueError : EXCEPTION_TypeError, "the separator must be a string that is not empty");
    Arguments given = count ? (Arguments){.positional = (Value *)count, .positional_count = 1} : *arguments;
    return argument_int(script, &given, count ? 0 : 1, -1, most);
}

static bool string_split(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *separator;
    int64_t most;
    Parts parts = {0};
    if (!split_arguments(script, arguments, &separator, &most) || (!separator && !check_spaces(script, self.as.text, arguments->span)))
        return false;
    if (separator)
        split_at(script, self.as.text, separator, most, &parts);
    else
        split_spaces(script, self.as.text, most, &parts);
    *result = script_list(script, parts.data, parts.count, false);
    return true;
}

/* From the right: the leftmost parts of a whole split are joined again. */
static bool string_rsplit(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *separator, *text = self.as.text;
    int64_t most;
    Parts parts = {0};
    if (!split_arguments(script, arguments, &separator, &most) || (!separator && !check_spaces(script, self.as.text, arguments->span)))
        return false;
    size_t end = strlen(text);
    VEC(Value) reversed = {0};
    while (true) {
        size_t begin = end, length = separator ? strlen(separator) : 0;
        for (; !separator && end && is_space(text[end - 1]); end--)
            continue;
        if (!separator && !end)
            break;
        begin = end;
        if (reversed.count == most)
            begin = 0;
        else if (separator)
            for (; begin && (begin < length || strncmp(text + begin - length, separator, length)); begin--)
                continue;
        else
            for (; begin && !is_space(text[begin - 1]); begin--)
                continue;
        vec_push(script->ctx->arena, &reversed, part(script, text + begin, end - begin));
        if (!begin)
            break;
        end = begin - length;
    }
    for (int i = reversed.count - 1; i >= 0; i--)
        vec_push(script->ctx->arena, &parts, reversed.data[i]);
    *result = script_list(script, parts.data, parts.count, false);
    return true;
}

static bool string_splitlines(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const Value *keep = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "keepends");
    Parts parts = {0};
    if (!check_spaces(script, self.as.text, arguments->span))
        return false;
    for (const char *text = self.as.text; *text;) {
        size_t length = strcspn(text, "\r\n\v\f\x1c\x1d\x1e"), end = length;
        end += text[end] == '\r' && text[end + 1] == '\n' ? 2 : text[end] != 0;
        vec_push(script->ctx->arena, &parts, part(script, text, keep && script_truth(*keep) ? end : length));
        text += end;
    }
    *result = script_list(script, parts.data, parts.count, false);
    return true;
}

static bool string_join(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const ValueList *items = script_items(script, arguments->positional[0], arguments->span, "join needs a list of strings, not %s");
    StrBuf text = {.arena = script->ctx->arena};
    if (!items)
        return false;
    for (int i = 0; i < items->count; i++) {
        if (items->items[i].kind != VALUE_STRING)
            return script_raise(script, arguments->span, EXCEPTION_TypeError, "join needs strings; item %d is %s", i, script_type_phrase(script, items->items[i]));
        strbuf_add(&text, i ? self.as.text : "");
        strbuf_add(&text, items->items[i].as.text);
        if (text.length > SCRIPT_MOST_ITEMS)
            return script_error(script, arguments->span, "the string would have more than %d bytes", SCRIPT_MOST_ITEMS);
    }
    *result = script_string(script, strbuf_text(&text));
    return true;
}

static bool partition(Script *script, Value self, const Arguments *arguments, bool from_right, Value *result)
{
    const char *text = self.as.text, *separator = text_argument(script, arguments, 0);
    if (!separator)
        return false;
    if (!*separator)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "the separator is empty");
    const char *found = strstr(text, separator);
    for (const char *next = found; from_right && next; next = strstr(next + 1, separator))
        found = next;
    Value empty = script_string(script, ""), parts[3] = {from_right ? empty : self, empty, from_right ? self : empty};
    if (found) {
        parts[0] = part(script, text, (size_t)(found - text));
        parts[1] = arguments->positional[0];
        parts[2] = script_string(script, found + strlen(separator));
    }
    *result = script_list(script, parts, 3, true);
    return true;
}

static bool string_partition(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return partition(script, self, arguments, false, result);
}

static bool string_rpartition(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return partition(script, self, arguments, true, result);
}

/* --- trimming and replacing --- */

static bool strip(Script *script, Value self, const Arguments *arguments, bool left, bool right, Value *result)
{
    bool given = arguments->positional_count && arguments->positional[0].kind != VALUE_NONE;
    const char *set = given ? text_argument(script, arguments, 0) : " \t\n\v\f\r\x1c\x1d\x1e\x1f", *begin = self.as.text, *end = begin + strlen(begin);
    if (!set)
        return false;
    while (left && *begin && strchr(set, *begin))
        begin++;
    while (right && end > begin && strchr(set, end[-1]))
        end--;
    *result = part(script, begin, (size_t)(end - begin));
    return true;
}

static bool string_strip(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return strip(script, self, arguments, true, true, result);
}

static bool string_lstrip(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return strip(script, self, arguments, true, false, result);
}

static bool string_rstrip(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return strip(script, self, arguments, false, true, result);
}

static bool string_replace(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *old = text_argument(script, arguments, 0), *by = old ? text_argument(script, arguments, 1) : NULL, *at = self.as.text;
    int64_t most;
    StrBuf text = {.arena = script->ctx->arena};
    if (!by || !argument_int(script, arguments, 2, -1, &most))
        return false;
    size_t length = strlen(old);
    for (int64_t count = 0; *at || !length; count++) {
        const char *next = count == most ? NULL : strstr(at, old);
        if (!next)
            break;
        strbuf_add_bytes(&text, at, (size_t)(next - at));
        strbuf_add(&text, by);
        at = next + length;
        if (text.length > SCRIPT_MOST_ITEMS)
            return script_error(script, arguments->span, "the string would have more than %d bytes", SCRIPT_MOST_ITEMS);
        if (!length && !*at)
            break;
        if (!length)
            do
                strbuf_add_bytes(&text, at++, 1);
            while ((*at & 0xC0) == 0x80);
    }
    strbuf_add(&text, at);
    *result = script_string(script, strbuf_text(&text));
    return true;
}

static bool string_removeprefix(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *text = text_argument(script, arguments, 0);
    if (text)
        *result = script_string(script, self.as.text + (strncmp(self.as.text, text, strlen(text)) ? 0 : strlen(text)));
    return text != NULL;
}

static bool string_removesuffix(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *text = text_argument(script, arguments, 0);
    size_t length = strlen(self.as.text), cut = text ? strlen(text) : 0;
    bool ends = text && cut <= length && !strcmp(self.as.text + length - cut, text);
    if (text)
        *result = part(script, self.as.text, length - (ends ? cut : 0));
    return text != NULL;
}

/* --- looking --- */

/* The part of SELF from the second argument to the third, NULL where there is none; *FROM is where it begins. */
static bool bounded_text(Script *script, Value self, const Arguments *arguments, Str *range, int64_t *from)
{
    const char *text = self.as.text;
    int64_t count = text_characters(text, strlen(text)), to;
    if (!argument_int(script, arguments, 1, 0, from) || !argument_int(script, arguments, 2, count, &to))
        return false;
    *from = *from < 0 ? (*from + count < 0 ? 0 : *from + count) : *from;
    to = to < 0 ? to + count : to > count ? count : to;
    *range = *from > count || to < *from ? NULL : part_of(script, text + byte_of(text, *from), byte_of(text, to) - byte_of(text, *from));
    return true;
}

/* TEXT, or one of several in a tuple, stands at the beginning (or end) of SELF between the bounds. */
static bool stands(Script *script, Value self, const Arguments *arguments, bool at_end, Value *result)
{
    Value given = arguments->positional[0];
    ValueList one = {.items = &given, .count = 1};
    const ValueList *texts = given.kind == VALUE_LIST && given.as.list->is_tuple ? given.as.list : &one;
    int64_t from;
    Str text;
    if (!bounded_text(script, self, arguments, &text, &from))
        return false;
    *result = (Value){.kind = VALUE_BOOL};
    for (int i = 0; i < texts->count && text; i++) {
        if (texts->items[i].kind != VALUE_STRING)
            return script_raise(script, given.span, EXCEPTION_TypeError, "a string or a tuple of strings is needed here, not %s", script_type_phrase(script, given));
        const char *wanted = texts->items[i].as.text;
        size_t length = strlen(wanted), whole = strlen(text);
        result->as.boolean |= length <= whole && !strncmp(at_end ? text + whole - length : text, wanted, length);
    }
    return true;
}

static bool string_startswith(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return stands(script, self, arguments, false, result);
}

static bool string_endswith(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return stands(script, self, arguments, true, result);
}

/* Where the text of the first argument is; -1: nowhere. */
static bool find_text(Script *script, Value self, const Arguments *arguments, bool from_right, int64_t *position)
{
    const char *wanted = text_argument(script, arguments, 0);
    int64_t from;
    Str range;
    if (!wanted || !bounded_text(script, self, arguments, &range, &from))
        return false;
    *position = -1;
    if (!range)
        return true;
    const char *found = strstr(range, wanted);
    for (const char *next = found; from_right && next && *next; next = strstr(next + 1, wanted))
        found = next;
    if (from_right && found && !*wanted)
        found = range + strlen(range);
    *position = found ? from + text_characters(range, (size_t)(found - range)) : -1;
    return true;
}

static bool string_find(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_INT};
    return find_text(script, self, arguments, false, &result->as.integer);
}

static bool string_rfind(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_INT};
    return find_text(script, self, arguments, true, &result->as.integer);
}

static bool string_index(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return string_find(script, self, arguments, result) &&
           (result->as.integer >= 0 || script_raise(script, arguments->span, EXCEPTION_ValueError, "the text is not in the string"));
}

static bool string_rindex(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return string_rfind(script, self, arguments, result) &&
           (result->as.integer >= 0 || script_raise(script, arguments->span, EXCEPTION_ValueError, "the text is not in the string"));
}

static bool string_count(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *wanted = text_argument(script, arguments, 0), *at;
    int64_t from;
    *result = (Value){.kind = VALUE_INT};
    if (!wanted || !bounded_text(script, self, arguments, &at, &from))
        return false;
    if (at && !*wanted)
        result->as.integer = text_characters(at, strlen(at)) + 1;
    while (at && *wanted && (at = strstr(at, wanted))) {
        result->as.integer++;
        at += strlen(wanted);
    }
    return true;
}

/* --- letters --- */

typedef enum { UPPER, LOWER, SWAP, TITLE, CAPITALIZE } Letters;

static bool change_letters(Script *script, Value self, Letters how, Span span, Value *result)
{
    size_t length = strlen(self.as.text);
    char *text = arena_strndup(script->ctx->arena, self.as.text, length);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0xC3 || (c == 0xC2 && strchr("\xaa\xb5\xba", text[i + 1])))
            return script_error(script, span, "only letters of ASCII have upper and lower case here");
        bool first = how == TITLE ? !i || !isalpha((unsigned char)text[i - 1]) : !i;
        bool upper = how == UPPER || (how == SWAP && islower(c)) || ((how == TITLE || how == CAPITALIZE) && first);
        if (c < 128)
            text[i] = (char)(upper ? toupper(c) : tolower(c));
    }
    *result = script_string(script, text);
    return true;
}

#define LETTERS(name, how)                                                                                                                   \
    static bool string_##name(Script *script, Value self, const Arguments *arguments, Value *result)                                         \
    {                                                                                                                                        \
        return change_letters(script, self, how, arguments->span, result);                                                                                    \
    }
LETTERS(upper, UPPER)
LETTERS(lower, LOWER)
LETTERS(casefold, LOWER)
LETTERS(swapcase, SWAP)
LETTERS(title, TITLE)
LETTERS(capitalize, CAPITALIZE)

/* Which class a character beyond ASCII is of is not known. */
static bool check_letters(Script *script, const char *text, Span span)
{
    for (; *text; text++)
        if ((unsigned char)*text > 127)
            return script_error(script, span, "only letters of ASCII are known here");
    return true;
}

/* All characters are of CLASS, and there is one. */
#define CLASS(name, of_class)                                                                                                                \
    static bool string_##name(Script *script, Value self, const Arguments *arguments, Value *result)                                         \
    {                                                                                                                                        \
        const char *at = self.as.text;                                                                                                       \
        if (!check_letters(script, at, arguments->span))                                                                                     \
            return false;                                                                                                                    \
        while (*at && of_class((unsigned char)*at))                                                                                          \
            at++;                                                                                                                            \
        *result = (Value){.kind = VALUE_BOOL, .as.boolean = *self.as.text && !*at};                                                          \
        return true;                                                                                                                         \
    }
CLASS(isdigit, isdigit)
CLASS(isalpha, isalpha)
CLASS(isalnum, isalnum)
CLASS(isdecimal, isdigit)
CLASS(isnumeric, isdigit)
CLASS(isspace, is_space)

static bool cased(Script *script, Value self, bool upper, Span span, Value *result)
{
    if (!check_letters(script, self.as.text, span))
        return false;
    bool some = false, other = false;
    for (const char *at = self.as.text; *at; at++) {
        some |= upper ? isupper((unsigned char)*at) : islower((unsigned char)*at);
        other |= upper ? islower((unsigned char)*at) : isupper((unsigned char)*at);
    }
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = some && !other};
    return true;
}

static bool string_isupper(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return cased(script, self, true, arguments->span, result);
}

static bool string_islower(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return cased(script, self, false, arguments->span, result);
}

/* Capitals begin words, and stand nowhere else. */
static bool string_istitle(Script *script, Value self, const Arguments *arguments, Value *result)
{
    bool some = false, right = true, inside = false;
    if (!check_letters(script, self.as.text, arguments->span))
        return false;
    for (const char *at = self.as.text; *at; at++) {
        bool letter = isalpha((unsigned char)*at);
        right &= !letter || (isupper((unsigned char)*at) != 0) == !inside;
        some |= letter;
        inside = letter;
    }
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = some && right};
    return true;
}

static bool string_isidentifier(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const char *at = self.as.text;
    if (!check_letters(script, at, arguments->span))
        return false;
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = *at && !isdigit((unsigned char)*at)};
    for (; *at; at++)
        result->as.boolean &= isalnum((unsigned char)*at) || *at == '_';
    return true;
}

/* Tabs become spaces up to the next column that is a multiple of the size. */
static bool string_expandtabs(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const Value *named = script_keyword(arguments, "tabsize");
    Arguments given = named ? (Arguments){.positional = (Value *)named, .positional_count = 1} : *arguments;
    StrBuf text = {.arena = script->ctx->arena};
    int64_t size, column = 0;
    if (!argument_int(script, &given, 0, 8, &size))
        return false;
    for (const char *at = self.as.text; *at; at++) {
        int64_t width = *at == '\t' ? size > 0 ? size - column % size : 0 : 1;
        if ((int64_t)text.length + width > SCRIPT_MOST_ITEMS)
            return script_error(script, arguments->span, "the string would have more than %d bytes", SCRIPT_MOST_ITEMS);
        for (int64_t i = 0; i < width; i++)
            strbuf_add_bytes(&text, *at == '\t' ? " " : at, 1);
        column = *at == '\n' || *at == '\r' ? 0 : column + ((*at & 0xC0) == 0x80 ? 0 : width);
    }
    *result = script_string(script, strbuf_text(&text));
    return true;
}

/* --- fields --- */

static bool justify(Script *script, Value self, const Arguments *arguments, char align, Value *result)
{
    int64_t width;
    const char *fill = arguments->positional_count > 1 ? text_argument(script, arguments, 1) : " ";
    if (!fill || !argument_int(script, arguments, 0, 0, &width))
        return false;
    int64_t length = text_characters(self.as.text, strlen(self.as.text)), space = width > length ? width - length : 0;
    if (text_characters(fill, strlen(fill)) != 1 || space > SCRIPT_MOST_ITEMS)
        return script_error(script, arguments->span, "the fill is one character, and the width at most %d", SCRIPT_MOST_ITEMS);
    int64_t before = align == '>' ? space : align == '^' ? space / 2 + (space & width & 1) : 0;
    StrBuf text = {.arena = script->ctx->arena};
    for (int64_t i = 0; i < before; i++)
        strbuf_add(&text, fill);
    strbuf_add(&text, self.as.text);
    for (int64_t i = before; i < space; i++)
        strbuf_add(&text, fill);
    *result = script_string(script, strbuf_text(&text));
    return true;
}

static bool string_ljust(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return justify(script, self, arguments, '<', result);
}

static bool string_rjust(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return justify(script, self, arguments, '>', result);
}

static bool string_center(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return justify(script, self, arguments, '^', result);
}

static bool string_zfill(Script *script, Value self, const Arguments *arguments, Value *result)
{
    bool sign = *self.as.text == '-' || *self.as.text == '+';
    Value arguments_of_rjust[] = {arguments->positional[0], script_string(script, "0")};
    if (arguments_of_rjust[0].kind == VALUE_INT && sign)
        arguments_of_rjust[0].as.integer--;
    Arguments rjust = {.positional = arguments_of_rjust, .positional_count = 2, .span = arguments->span};
    Value digits = script_string(script, self.as.text + sign);
    if (!justify(script, digits, &rjust, '>', result))
        return false;
    if (sign)
        *result = script_string(script, context_internf(script->ctx, "%c%s", *self.as.text, result->as.text));
    return true;
}

static bool string_format(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return script_format_call(script, self.as.text, arguments, result);
}

#define METHOD(name, fewest, most, ...) {VALUE_STRING, #name, string_##name, fewest, most, false, {__VA_ARGS__}},
const ValueMethod string_methods[] = {
    METHOD(split, 0, 2, "sep", "maxsplit") METHOD(rsplit, 0, 2, "sep", "maxsplit") METHOD(splitlines, 0, 1, "keepends") METHOD(join, 1, 1, 0)
    METHOD(partition, 1, 1, 0) METHOD(rpartition, 1, 1, 0) METHOD(strip, 0, 1, 0) METHOD(lstrip, 0, 1, 0) METHOD(rstrip, 0, 1, 0)
    METHOD(replace, 2, 3, 0) METHOD(removeprefix, 1, 1, 0) METHOD(removesuffix, 1, 1, 0) METHOD(startswith, 1, 3, 0)
    METHOD(endswith, 1, 3, 0) METHOD(find, 1, 3, 0) METHOD(rfind, 1, 3, 0) METHOD(index, 1, 3, 0) METHOD(count, 1, 3, 0)
    METHOD(upper, 0, 0, 0) METHOD(lower, 0, 0, 0) METHOD(swapcase, 0, 0, 0) METHOD(title, 0, 0, 0) METHOD(capitalize, 0, 0, 0)
    METHOD(isdigit, 0, 0, 0) METHOD(isalpha, 0, 0, 0) METHOD(isalnum, 0, 0, 0) METHOD(isspace, 0, 0, 0) METHOD(isupper, 0, 0, 0)
    METHOD(isdecimal, 0, 0, 0) METHOD(isnumeric, 0, 0, 0) METHOD(istitle, 0, 0, 0) METHOD(isidentifier, 0, 0, 0) METHOD(casefold, 0, 0, 0)
    METHOD(expandtabs, 0, 1, "tabsize") METHOD(rindex, 1, 3, 0) METHOD(islower, 0, 0, 0) METHOD(ljust, 1, 2, 0) METHOD(rjust, 1, 2, 0) METHOD(center, 1, 2, 0) METHOD(zfill, 1, 1, 0)
    METHOD(format, 0, 1000, "*") {0},
};
