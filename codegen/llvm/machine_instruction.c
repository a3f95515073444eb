/* See machine_instruction.h. Operands are in AT&T's order, the result last: vfmadd231ps 64(%rdi,%rcx,4), %zmm0, %zmm1 {%k1}. */
#include "codegen/llvm/machine_instruction.h"

#include <stdlib.h>

enum { MOST_OPERANDS = 6, XMM_BYTES = 16, YMM_BYTES = 32, ZMM_BYTES = 64 };

typedef struct {
    const char *prefix;
    CodeKind kind;
} Family;

static const Family families[] = {
#define X(prefix, kind) {prefix, CODE_##kind},
#include "codegen/llvm/machine_instruction.def"
#undef X
};

typedef struct {
    const char *name; /* without the v of AVX */
    const char *operands[MOST_OPERANDS];
    int count;
    const char *comment; /* "" where there is none */
} Words;

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* Cuts the operands at the commas that are not in parentheses. */
static Words split_words(Context *ctx, const char *text, const char *end)
{
    const char *hash = memchr(text, '#', (size_t)(end - text)), *stop = hash ? hash : end;
    Words words = {.comment = hash ? context_internf(ctx, "%.*s", (int)(end - hash), hash) : ""};
    char *copy = arena_strndup(ctx->arena, text, (size_t)(stop - text)), *at = copy + strcspn(copy, " \t");
    if (*at)
        *at++ = '\0';
    words.name = *copy == 'v' && !starts_with(copy, "verr") ? copy + 1 : copy;
    int depth = 0;
    at += strspn(at, " \t");
    for (char *begin = at; *begin && words.count < MOST_OPERANDS; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at && (*at != ',' || depth))
            continue;
        bool last = !*at;
        *at = '\0';
        words.operands[words.count++] = begin;
        if (last)
            break;
        begin = at + 1 + strspn(at + 1, " \t");
    }
    return words;
}

static bool is_memory(const char *operand)
{
    return strchr(operand, '(') != NULL;
}

/* The vector register that OPERAND names first, and its size; -1: none. */
static int vector_register(const char *operand, int *bytes)
{
    static const struct {
        const char *name;
        int bytes;
    } classes[] = {{"%zmm", ZMM_BYTES}, {"%ymm", YMM_BYTES}, {"%xmm", XMM_BYTES}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *found = strstr(operand, classes[i].name);
        if (found && bytes)
            *bytes = classes[i].bytes;
        if (found)
            return atoi(found + 4) % VECTOR_REGISTERS;
    }
    return -1;
}

/* The bytes of an element by the end of the name; 0: it does not say. *SCALAR: one element; *IS_FLOAT. */
static int element_bytes(const char *name, bool *scalar, bool *is_float)
{
    size_t length = strlen(name);
    const char *ending = length > 2 ? name + length - 2 : "";
    *is_float = ending[0] && strchr("sp", ending[0]) && strchr("sdh", ending[1]) && name[0] != 'p';
    *scalar = *is_float && ending[0] == 's';
    if (*is_float)
        return ending[1] == 's' ? 4 : ending[1] == 'd' ? 8 : 2;
    if (name[0] != 'p')
        return 0;
    char last = name[length - 1];
    return last == 'b' ? 1 : last == 'w' ? 2 : last == 'd' ? 4 : last == 'q' ? 8 : 0;
}

/* x ^ x, which is how 0 comes into a register. */
static bool is_zeroing(const Words *words)
{
    if (!strstr(words->name, "xor") || words->count < 2)
        return false;
    for (int i = 1; i < words->count; i++)
        if (strcmp(words->operands[i], words->operands[0]))
            return false;
    return true;
}

static CodeKind family_of(const char *name)
{
    size_t i = 0;
    while (!starts_with(name, families[i].prefix))
        i++;
    return families[i].kind;
}

static bool is_comparison(const char *name)
{
    return starts_with(name, "cmp") || starts_with(name, "test") || starts_with(name, "ucomis") || starts_with(name, "comis") ||
           starts_with(name, "bt") || starts_with(name, "ptest");
}

/* What the memory operand of an instruction does. */
static unsigned memory_kinds(const Words *words, bool is_vector, CodeKind family)
{
    int at = -1;
    bool masked = strstr(words->name, "maskmov") != NULL;
    for (int i = 0; i < words->count; i++) {
        if (is_memory(words->operands[i]))
            at = i;
        masked |= strstr(words->operands[i], "{%k") != NULL;
    }
    if (strstr(words->comment, "Spill"))
        return 1u << CODE_SPILL;
    if (strstr(words->comment, "Reload"))
        return 1u << CODE_RELOAD;
    bool none = starts_with(words->name, "lea") || starts_with(words->name, "nop") || starts_with(words->name, "prefetch");
    if (at < 0 || none || family == CODE_GATHER || family == CODE_SCATTER)
        return 0;
    bool stores = at == words->count - 1 && words->count > 1 && !is_comparison(words->name);
    bool spread = strstr(words->name, "broadcast") || strstr(words->operands[at], "{1to");
    CodeKind kind = stores ? (is_vector ? CODE_STORE : CODE_SCALAR_STORE) : spread ? CODE_BROADCAST : is_vector ? CODE_LOAD : CODE_SCALAR_LOAD;
    return 1u << kind | (masked && is_vector ? 1u << CODE_MASKED : 0);
}

/* The register that is written, and those that its new value comes from: also the old one, for a multiply-add, an operation of two operands
   that is no move, and where a mask leaves some lanes. */
static void note_result(Instruction *instruction, const Words *words, bool multiply_add)
{
    const char *last = words->count ? words->operands[words->count - 1] : "";
    instruction->result = words->count && !is_memory(last) ? vector_register(last, NULL) : -1;
    if (instruction->result < 0 || is_zeroing(words))
        return;
    bool in_place = words->count == 2 && instruction->adds;
    bool merges = strstr(last, "{%k") && !strstr(last, "{z}");
    if (multiply_add || in_place || merges)
        instruction->sources |= UINT32_C(1) << instruction->result;
    for (int i = 0; i < words->count - 1; i++) {
        int source = is_memory(words->operands[i]) ? -1 : vector_register(words->operands[i], NULL);
        if (source >= 0)
            instruction->sources |= UINT32_C(1) << source;
    }
}

static void note_arithmetic(Instruction *instruction, const Words *words, CodeKind family)
{
    bool scalar, is_float;
    int bytes = element_bytes(words->name, &scalar, &is_float), lanes = scalar ? 1 : bytes ? instruction->vector_bytes / bytes : 0;
    bool works = family == CODE_MULTIPLY_ADD || family == CODE_ARITHMETIC || family == CODE_DIVISION;
    if (works && scalar && family != CODE_DIVISION)
        family = CODE_SCALAR;
    if (family != CODE_COUNT && !(family == CODE_SHUFFLE && instruction->kinds & 1u << CODE_BROADCAST))
        instruction->kinds |= 1u << family;
    bool multiply_add = starts_with(words->name, "fm") || starts_with(words->name, "fnm");
    bool adds = starts_with(words->name, "add") || starts_with(words->name, "sub") || starts_with(words->name, "mul") || multiply_add ||
                starts_with(words->name, "max") || starts_with(words->name, "min") || starts_with(words->name, "div");
    if (works)
        instruction->lanes = lanes;
    if (is_float && adds)
        instruction->float_bytes = (double)lanes * bytes * (multiply_add ? 2 : 1);
    instruction->adds = is_float && adds;
    note_result(instruction, words, multiply_add);
}

Instruction instruction_read(Context *ctx, const char *text, const char *end)
{
    Instruction instruction = {.result = -1};
    Words words = split_words(ctx, text, end);
    bool has_vector = false;
    for (int i = 0; i < words.count; i++) {
        int bytes = 0;
        if (vector_register(words.operands[i], &bytes) >= 0 && bytes > instruction.vector_bytes)
            instruction.vector_bytes = bytes;
        has_vector |= bytes > 0;
    }
    if (starts_with(words.name, "call")) {
        const char *name = words.count ? words.operands[0] : "";
        instruction.kinds = 1u << CODE_CALL;
        instruction.callee = *name == '*' ? NULL : context_internf(ctx, "%.*s", (int)strcspn(name, "@ \t"), name);
        return instruction;
    }
    bool scalar, is_float;
    element_bytes(words.name, &scalar, &is_float);
    CodeKind family = has_vector && !is_zeroing(&words) ? family_of(words.name) : CODE_COUNT;
    bool one_lane = scalar || starts_with(words.name, "movd") || !strcmp(words.name, "movq") || starts_with(words.name, "pinsr") ||
                    starts_with(words.name, "pextr") || !strcmp(words.name, "insertps") || !strcmp(words.name, "extractps");
    instruction.kinds = memory_kinds(&words, has_vector && !(one_lane && !strstr(words.name, "movdq")), family);
    if (has_vector)
        note_arithmetic(&instruction, &words, family);
    if (one_lane)
        instruction.vector_bytes = 0;
    return instruction;
}
