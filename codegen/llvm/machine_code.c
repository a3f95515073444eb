/* See machine_code.h. LLVM's comments tell which block belongs to which loop, and what is a spill; .loc directives tell the line.

     .LBB0_3:                                # %k                           a block, and the block of LLVM IR that it was
                                             #   Parent Loop BB0_1 Depth=1
                                             # =>  This Inner Loop Header: Depth=2
     # %bb.4:                                #   in Loop: Header=BB0_1 Depth=1
             .loc    1 8 13
             vmovups %zmm0, 64(%rsp)         # 64-byte Spill */
#include "codegen/llvm/machine_code.h"

#include <ctype.h>
#include <stdlib.h>

#include "codegen/llvm/machine_instruction.h"

static const CodeKindInfo kind_infos[CODE_COUNT] = {
#define X(identifier, name, one, several) [CODE_##identifier] = {name, one, several},
#include "codegen/llvm/machine_code.def"
#undef X
};

const CodeKindInfo *code_kind_info(CodeKind kind)
{
    return &kind_infos[kind];
}

typedef struct {
    Context *ctx;
    CodeParts parts;
    VEC(CodeLoop *) loops;
    VEC(Str) files; /* by their numbers */
    Str function, block_label, block_name;
    CodeLoop *loop;
    Str file;
    int line, column;
} Reader;

static Str intern_range(Context *ctx, const char *begin, const char *end)
{
    return context_internf(ctx, "%.*s", (int)(end - begin), begin);
}

/* --- Blocks and loops --- */

static CodeLoop *loop_labelled(Reader *reader, Str label)
{
    for (int i = 0; i < reader->loops.count; i++)
        if (reader->loops.data[i]->label == label && reader->loops.data[i]->function == reader->function)
            return reader->loops.data[i];
    CodeLoop *loop = ARENA_NEW(reader->ctx->arena, CodeLoop);
    loop->function = reader->function;
    loop->label = label;
    loop->rounds = 1;
    for (int i = 0; i < VECTOR_REGISTERS; i++)
        for (int before = 0; before < VECTOR_REGISTERS; before++)
            loop->chains[i][before] = i == before ? 0 : -1;
    vec_push(reader->ctx->arena, &reader->loops, loop);
    return loop;
}

static void begin_block(Reader *reader, Str label)
{
    reader->block_label = label;
    reader->block_name = NULL;
    reader->loop = loop_labelled(reader, NULL);
}

static void name_loop(Reader *reader)
{
    const char *name = reader->block_name, *rounds = name ? strstr(name, ROUNDS_IN_NAME) : NULL;
    reader->loop->name = rounds ? intern_range(reader->ctx, name, rounds) : name;
    if (rounds)
        reader->loop->rounds = atoi(rounds + strlen(ROUNDS_IN_NAME));
}

/* COMMENT: what follows # in the line of a label and in the lines of comments after it. */
static void read_block_comment(Reader *reader, const char *comment)
{
    const char *header = strstr(comment, "Loop Header: Depth="), *inside = strstr(comment, "in Loop: Header=");
    const char *name = strchr(comment, '%');
    if (name && !reader->block_name)
        reader->block_name = intern_range(reader->ctx, name + 1, name + 1 + strcspn(name + 1, " "));
    if (header && strstr(comment, "=>")) {
        reader->loop = loop_labelled(reader, reader->block_label);
        name_loop(reader);
        reader->loop->depth = atoi(strchr(header, '=') + 1);
        reader->loop->innermost = strstr(comment, "Inner Loop Header") != NULL;
    } else if (inside) {
        const char *label = strchr(inside, '=') + 1;
        reader->loop = loop_labelled(reader, intern_range(reader->ctx, label, label + strcspn(label, " ")));
    }
}

/* --- Places --- */

/* .file NUMBER "FOLDER" "NAME", or with the name only */
static void read_file(Reader *reader, const char *text, const char *end)
{
    char *rest;
    long number = strtol(text, &rest, 10);
    const char *close = end;
    while (close > text && *close != '"')
        close--;
    const char *open = close - 1;
    while (open > text && *open != '"')
        open--;
    if (rest == text || number < 0 || number > 1 << 16 || open <= text)
        return;
    while (reader->files.count <= number)
        vec_push(reader->ctx->arena, &reader->files, (Str)NULL);
    reader->files.data[number] = intern_range(reader->ctx, open + 1, close);
}

static void read_place(Reader *reader, const char *text)
{
    int file, line, column;
    if (sscanf(text, "%d %d %d", &file, &line, &column) != 3 || file < 0 || file >= reader->files.count)
        return;
    reader->file = reader->files.data[file];
    reader->line = line;
    reader->column = column;
}

/* --- Instructions --- */

static CodePart *part_here(Reader *reader)
{
    CodeLoop *loop = reader->loop ? reader->loop : loop_labelled(reader, NULL);
    for (int i = reader->parts.count - 1; i >= 0; i--) {
        CodePart *part = reader->parts.data[i];
        if (part->loop == loop && part->file == reader->file && part->line == reader->line)
            return part;
    }
    CodePart *part = ARENA_NEW(reader->ctx->arena, CodePart);
    *part = (CodePart){.loop = loop, .file = reader->file, .line = reader->line, .column = reader->column};
    vec_push(reader->ctx->arena, &reader->parts, part);
    return part;
}

/* What INSTRUCTION writes depends on whatever its sources do, one sum later if it is one. */
static void note_chain(CodeLoop *loop, const Instruction *instruction)
{
    enum { LONGEST = 127 };
    if (instruction->result < 0)
        return;
    signed char *result = loop->chains[instruction->result], chain[VECTOR_REGISTERS];
    for (int before = 0; before < VECTOR_REGISTERS; before++) {
        chain[before] = -1;
        for (int source = 0; source < VECTOR_REGISTERS; source++)
            if (instruction->sources >> source & 1 && loop->chains[source][before] > chain[before])
                chain[before] = loop->chains[source][before];
        chain[before] += chain[before] >= 0 && chain[before] < LONGEST && instruction->adds;
    }
    memcpy(result, chain, sizeof chain);
}

static bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static void add_instruction(Reader *reader, const char *text, const char *end)
{
    if (reader->block_name && starts_with(reader->block_name, UNALIGNED_NAME))
        return;
    Instruction instruction = instruction_read(reader->ctx, text, end);
    CodePart *part = part_here(reader);
    CodeLoop *loop = reader->loop ? reader->loop : loop_labelled(reader, NULL);
    loop->instructions++;
    loop->float_bytes += instruction.float_bytes;
    if (instruction.lanes > loop->lanes)
        loop->lanes = instruction.lanes;
    note_chain(loop, &instruction);
    for (int kind = 0; kind < CODE_COUNT; kind++)
        if (instruction.kinds & 1u << kind) {
            part->counts[kind]++;
            loop->counts[kind]++;
        }
    if (instruction.lanes > part->lanes)
        part->lanes = instruction.lanes;
    if (instruction.vector_bytes > part->vector_bytes)
        part->vector_bytes = instruction.vector_bytes;
    if (instruction.callee)
        vec_push(reader->ctx->arena, &part->callees, instruction.callee);
}

/* --- Lines --- */

static void read_label(Reader *reader, const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (!colon || starts_with(line, ".Ltmp") || starts_with(line, ".Lfunc"))
        return;
    if (starts_with(line, ".LBB"))
        begin_block(reader, intern_range(reader->ctx, line + 2, colon));
    else if (*line != '.') {
        reader->function = intern_range(reader->ctx, line, colon);
        reader->line = 0;
        begin_block(reader, NULL);
    }
}

static void read_line(Reader *reader, const char *line, const char *end)
{
    const char *text = line + strspn(line, " \t");
    const char *hash = memchr(text, '#', (size_t)(end - text));
    if (text == end)
        return;
    if (*text == '#') {
        if (starts_with(text, "# %bb."))
            begin_block(reader, context_intern(reader->ctx, ""));
        const char *comment = strchr(text + 1, '#');
        read_block_comment(reader, starts_with(text, "# %bb.") ? (comment && comment < end ? intern_range(reader->ctx, comment, end) : "")
                                                               : intern_range(reader->ctx, text, end));
    } else if (text == line) {
        read_label(reader, line, end);
        if (hash)
            read_block_comment(reader, intern_range(reader->ctx, hash, end));
    } else if (starts_with(text, ".file")) {
        read_file(reader, text + 5, hash ? hash : end);
    } else if (starts_with(text, ".loc\t")) {
        read_place(reader, text + 5);
    } else if (*text != '.' && reader->function) {
        add_instruction(reader, text, end);
    }
}

/* --- Code without a line --- */

static int part_size(const CodePart *part)
{
    int size = 0;
    for (int kind = 0; kind < CODE_COUNT; kind++)
        size += part->counts[kind];
    return size;
}

/* Spills and reloads have no line of their own: they go with most of what is in their loop. */
static void give_to_largest(Reader *reader, const CodePart *part)
{
    CodePart *largest = NULL;
    for (int i = 0; i < reader->parts.count; i++) {
        CodePart *other = reader->parts.data[i];
        if (other->loop == part->loop && other->line && (!largest || part_size(other) > part_size(largest)))
            largest = other;
    }
    for (int kind = 0; largest && kind < CODE_COUNT; kind++)
        largest->counts[kind] += part->counts[kind];
}

CodeParts machine_code_read(Context *ctx, const char *assembly)
{
    Reader reader = {.ctx = ctx};
    for (const char *line = assembly, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        read_line(&reader, line, end);
    }
    for (int i = 0; i < reader.parts.count; i++)
        if (!reader.parts.data[i]->line)
            give_to_largest(&reader, reader.parts.data[i]);
    return reader.parts;
}

/* --- The estimate --- */

/* What a cycle of the processor that the estimate is about takes, and how long a sum waits for the one before. */
enum { FLOAT_UNITS = 2, LOADS = 2, STORES = 1, SHUFFLES = 1, INSTRUCTIONS = 6, SUM_LATENCY = 4, DIVISION_CYCLES = 16, CALL_CYCLES = 40 };

double machine_code_share(const CodeLoop *loop, int vector_bytes, const char **limit)
{
    const int *counts = loop->counts;
    int longest = 0, wide = loop->lanes > 0 ? loop->lanes : 1;
    for (int i = 0; i < VECTOR_REGISTERS; i++)
        longest = loop->chains[i][i] > longest ? loop->chains[i][i] : longest;
    double floats = counts[CODE_MULTIPLY_ADD] + counts[CODE_ARITHMETIC] + counts[CODE_SCALAR];
    double loads = counts[CODE_LOAD] + counts[CODE_BROADCAST] + counts[CODE_SCALAR_LOAD] + counts[CODE_RELOAD];
    const struct {
        double cycles;
        const char *name;
    } bounds[] = {
        {floats / FLOAT_UNITS, "arithmetic"},
        {loads / LOADS, "loads"},
        {(counts[CODE_STORE] + counts[CODE_SCALAR_STORE] + counts[CODE_SPILL]) / (double)STORES, "stores"},
        {counts[CODE_SHUFFLE] / (double)SHUFFLES, "shuffles"},
        {(counts[CODE_GATHER] + counts[CODE_SCATTER]) * (double)wide, "gathers and scatters"},
        {counts[CODE_DIVISION] * (double)DIVISION_CYCLES, "divisions and roots"},
        {counts[CODE_CALL] * (double)CALL_CYCLES, "calls"},
        {longest * (double)SUM_LATENCY, "the chain of sums"},
        {loop->instructions / (double)INSTRUCTIONS, "the number of instructions"},
    };
    double cycles = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].cycles > cycles) {
            cycles = bounds[i].cycles;
            *limit = bounds[i].name;
        }
    return loop->float_bytes > 0 ? loop->float_bytes / (cycles * 2 * FLOAT_UNITS * vector_bytes) : -1;
}
