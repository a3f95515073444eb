/* The state of a schedule: steps that succeed whole or change nothing, handles, the edit, refusals. The tree is read in tree.c. */
#include "passes/schedule/core/schedule.h"

#include <string.h>

#include "passes/regions/complete.h"
#include "ir/walk.h"
#include "support/bug.h"

Schedule *schedule_new(Context *ctx, const Module *module, int func_index)
{
    Schedule *sch = ARENA_NEW(ctx->arena, Schedule);
    sch->ctx = ctx;
    sch->module = module;
    sch->func_index = func_index;
    sch->primitive = "schedule";
    sch->random = 1;
    return sch;
}

Schedule *schedule_copy(Schedule *sch)
{
    Arena *arena = sch->ctx->arena;
    Schedule *copy = schedule_new(sch->ctx, sch->module, sch->func_index);
    for (int i = 0; i < sch->edits.count; i++)
        vec_push(arena, &copy->edits, sch->edits.data[i]);
    for (int i = 0; i < sch->renamed.count; i++)
        vec_push(arena, &copy->renamed, sch->renamed.data[i]);
    for (int i = 0; i < sch->bound.count; i++)
        vec_push(arena, &copy->bound, sch->bound.data[i]);
    copy->trace = trace_copy(arena, &sch->trace);
    copy->root_mark = sch->root_mark;
    copy->inline_mark = sch->inline_mark;
    return copy;
}

const Func *schedule_func(const Schedule *sch)
{
    return sch->module->funcs[sch->func_index];
}

/* --- Steps --- */

Step schedule_begin(Schedule *sch, const char *primitive, Span call_span)
{
    sch->primitive = primitive;
    sch->call_span = call_span;
    sch->args = NULL;
    sch->arg_count = 0;
    sch->func_pinned = false;
    sch->subject = NULL;
    sch->narrowed = sch->widened = NULL;
    sch->refused_without_place = false;
    return (Step){sch->module, sch->func_index, sch->renamed.count, diag_mark(sch->ctx)};
}

void schedule_set_arguments(Schedule *sch, const Value *args, int count)
{
    sch->args = args;
    sch->arg_count = count;
}

/* --- Handles --- */

const Block *schedule_current_block(const Schedule *sch, const Block *block)
{
    for (int i = 0; i < sch->renamed.count; i++)
        if (sch->renamed.data[i].old_block == block)
            block = sch->renamed.data[i].new_block;
    return block;
}

typedef const TreeNode *(*NodeFinder)(Schedule *sch, const void *symbol);

static const TreeNode *find_loop(Schedule *sch, const void *symbol)
{
    return schedule_find_loop(sch, symbol);
}

static const TreeNode *find_block(Schedule *sch, const void *symbol)
{
    return schedule_find_block(sch, symbol);
}

/* The node of SYMBOL in whichever function holds it; that function becomes the one acted on. */
static const TreeNode *find_anywhere(Schedule *sch, const void *symbol, NodeFinder find)
{
    int home = sch->func_index;
    const TreeNode *node = home >= 0 ? find(sch, symbol) : NULL;
    for (int i = 0; !node && !sch->func_pinned && i < sch->module->func_count; i++) {
        sch->func_index = i;
        node = find(sch, symbol);
    }
    if (!node)
        sch->func_index = home;
    else
        sch->func_pinned = true;
    if (node && !sch->subject)
        sch->subject = node->stmt;
    return node;
}

static bool is_handle_of(const Schedule *sch, const Value *value, const void *symbol)
{
    return (value->kind == VALUE_LOOP && value->as.loop == symbol) ||
           (value->kind == VALUE_BLOCK && schedule_current_block(sch, value->as.block) == symbol);
}

/* The argument, or item of one, that holds SYMBOL; NULL without one. */
static const Value *handle_argument(const Schedule *sch, const void *symbol)
{
    for (int i = 0; i < sch->arg_count; i++) {
        const Value *arg = &sch->args[i];
        if (is_handle_of(sch, arg, symbol))
            return arg;
        for (int k = 0; arg->kind == VALUE_LIST && k < arg->as.list->count; k++)
            if (is_handle_of(sch, &arg->as.list->items[k], symbol))
                return &arg->as.list->items[k];
    }
    return NULL;
}

/* The loop or block that SYMBOL is in a module; NULL when it is not there. */
typedef struct {
    const void *symbol;
    const Stmt *found;
} SymbolSearch;

static bool find_symbol(Visitor *visitor, const Stmt *stmt)
{
    SymbolSearch *search = visitor->data;
    if ((stmt->kind == STMT_FOR && stmt->as.loop.var == search->symbol) ||
        (stmt->kind == STMT_BLOCK && stmt->as.block.block == search->symbol))
        search->found = stmt;
    return !search->found;
}

static const Stmt *stmt_of_symbol(const Module *module, const void *symbol)
{
    SymbolSearch search = {.symbol = symbol};
    Visitor visitor = {.stmt = find_symbol, .data = &search};
    for (int i = 0; i < module->func_count && !search.found; i++)
        visit_stmt(&visitor, module->funcs[i]->body);
    return search.found;
}

static const char *instead_of_stale(const char *primitive, bool loop)
{
    const Primitive *row = primitive_find(primitive);
    if (loop)
        return row && strstr(row->result, "Loop") ? "; use the handles that this call returned, or get the loop anew"
                                                  : "; get_loops gives the loops that are there now";
    return row && strcmp(row->result, "None") ? "; get_block and get_child_blocks give the blocks that are there now" : "";
}

static void refuse_stale(Schedule *sch, const void *symbol, bool loop, const char *name)
{
    const Value *handle = handle_argument(sch, symbol);
    const char *kind = loop ? "loop" : "block";
    const Stmt *stmt = NULL;
    const ProgramEdit *edit = sch->edits.data + sch->edits.count;
    while (!stmt && edit > sch->edits.data)
        stmt = stmt_of_symbol((--edit)->before, symbol);
    if (!stmt) {
        sched_refuse_argument(sch, handle, "%s '%s' is not in %s", kind, name,
                              sch->func_pinned ? "the function of the other arguments" : "the program");
        return;
    }
    sched_refuse_argument(sch, handle, "%s '%s' no longer exists: '%s' consumed it", kind, name, edit->primitive);
    sched_note(sch, edit->span, "consumed here%s", instead_of_stale(edit->primitive, loop));
    sched_note(sch, stmt->span, "%s '%s' was here", kind, name);
}

const TreeNode *schedule_loop(Schedule *sch, const Var *loop)
{
    const TreeNode *node = find_anywhere(sch, loop, find_loop);
    if (!node)
        refuse_stale(sch, loop, true, loop->name);
    return node;
}

const TreeNode *schedule_block(Schedule *sch, const Block *block)
{
    const TreeNode *node = find_anywhere(sch, block, find_block);
    if (!node)
        refuse_stale(sch, schedule_current_block(sch, block), false, block->name);
    return node;
}

/* --- The end of a step --- */

/* The first of the step's arguments, or items of them, that is a handle of something in the program: what a step is about that was refused
   before it looked at any. */
static const Stmt *first_handle(const Schedule *sch, const Module *module)
{
    const Stmt *stmt = NULL;
    for (int i = 0; i < sch->arg_count && !stmt; i++) {
        const Value *arg = &sch->args[i], *items = arg->kind == VALUE_LIST ? arg->as.list->items : arg;
        int count = arg->kind == VALUE_LIST ? arg->as.list->count : 1;
        for (int k = 0; k < count && !stmt; k++)
            if (items[k].kind == VALUE_LOOP || items[k].kind == VALUE_BLOCK)
                stmt = stmt_of_symbol(module, items[k].kind == VALUE_LOOP ? (const void *)items[k].as.loop
                                                                               : schedule_current_block(sch, items[k].as.block));
    }
    return stmt;
}

static bool is_root(const Module *module, const Stmt *stmt)
{
    for (int i = 0; i < module->func_count; i++)
        if (module->funcs[i]->body == stmt)
            return true;
    return false;
}

/* MODULE: the program before the step. */
static void note_subject(Schedule *sch, const Module *module)
{
    const Stmt *subject = !sch->refused_without_place ? NULL : sch->subject ? sch->subject : first_handle(sch, module);
    if (!subject || !subject->span.file)
        return;
    if (subject->kind == STMT_FOR)
        sched_note(sch, subject->span, "loop '%s' is here", subject->as.loop.var->name);
    else if (is_root(module, subject))
        sched_note(sch, subject->span, "the root block is here");
    else
        sched_note(sch, subject->span, "block '%s' is here", subject->as.block.block->name);
}

/* Regions that the printed text leaves out are those that it gives when it is read, whatever the step made of the blocks in them. */
static void infer_changed_regions(Schedule *sch, const Module *before)
{
    for (int i = 0; i < sch->module->func_count; i++) {
        const Func *func = sch->module->funcs[i], *old = i < before->func_count ? before->funcs[i] : NULL;
        const Func *inferred = func == old ? func : func_infer_regions(sch->ctx, old, func);
        if (inferred != func)
            sch->module = module_with_func(sch->ctx, sch->module, i, inferred);
    }
}

bool schedule_end(Schedule *sch, Step step, bool ok)
{
    note_subject(sch, step.module);
    ok = ok && diag_error_count(sch->ctx) == step.mark.errors;
    if (!ok) {
        diag_forget_warnings(sch->ctx, step.mark);
        sch->module = step.module;
        sch->renamed.count = step.renamed_count;
    } else if (sch->module != step.module) {
        infer_changed_regions(sch, step.module);
        ProgramEdit edit = {step.module, sch->primitive, sch->call_span};
        vec_push(sch->ctx->arena, &sch->edits, edit);
    }
    sch->func_index = step.func_index;
    return ok;
}

/* --- Editing --- */

void sched_replace(Schedule *sch, const Stmt *old_stmt, const Stmt *new_stmt)
{
    const TreeNode *node = schedule_find_stmt(sch, old_stmt);
    CHECK(node && node->stmt == old_stmt);
    const Stmt *replaced = old_stmt;
    for (const TreeNode *parent = schedule_parent(sch, node); parent; parent = schedule_parent(sch, parent)) {
        new_stmt = stmt_with_child(sch->ctx, parent->stmt, replaced, new_stmt);
        replaced = parent->stmt;
    }
    sched_replace_func(sch, func_with_body(sch->ctx, schedule_func(sch), new_stmt));
}

void sched_replace_func(Schedule *sch, const Func *func)
{
    sch->module = module_with_func(sch->ctx, sch->module, sch->func_index, func);
}

void sched_note_bound(Schedule *sch, const Var *loop)
{
    Bound bound = {loop, sch->call_span};
    vec_push(sch->ctx->arena, &sch->bound, bound);
}

Span schedule_bound_at(const Schedule *sch, const Var *loop)
{
    for (int i = 0; i < sch->bound.count; i++)
        if (sch->bound.data[i].loop == loop)
            return sch->bound.data[i].span;
    return span_none();
}

void sched_rename_block(Schedule *sch, const Block *old_block, Block *new_block)
{
    Renamed renamed = {old_block, new_block};
    vec_push(sch->ctx->arena, &sch->renamed, renamed);
}

/* --- Refusing --- */

static bool refuse_at(Schedule *sch, Span span, const char *format, va_list args)
{
    diag_error(sch->ctx, span, "%s: %s", sch->primitive, arena_vprintf(sch->ctx->arena, format, args));
    sch->refused_without_place = true;
    return false;
}

bool sched_refuse(Schedule *sch, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse_at(sch, sch->call_span, format, args);
    va_end(args);
    return false;
}

static bool is_in_call(const Schedule *sch, Span span)
{
    return span.file && span.file == sch->call_span.file && span.begin >= sch->call_span.begin && span.end <= sch->call_span.end;
}

/* Where the call mentions ARGUMENT: a value, or the list that holds it, may come from a variable that was set elsewhere. */
static Span argument_span(const Schedule *sch, const Value *argument)
{
    if (argument && is_in_call(sch, argument->span))
        return argument->span;
    for (int i = 0; argument && i < sch->arg_count; i++) {
        const Value *arg = &sch->args[i];
        if (arg->kind == VALUE_LIST && argument >= arg->as.list->items && argument < arg->as.list->items + arg->as.list->count &&
            is_in_call(sch, arg->span))
            return arg->span;
    }
    return sch->call_span;
}

bool sched_refuse_argument(Schedule *sch, const Value *argument, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse_at(sch, argument_span(sch, argument), format, args);
    va_end(args);
    return false;
}

bool sched_refuse_node(Schedule *sch, const TreeNode *node, const char *format, ...)
{
    const Stmt *stmt = node->stmt;
    const void *symbol = stmt->kind == STMT_FOR ? (const void *)stmt->as.loop.var : stmt->as.block.block;
    const Value *argument = handle_argument(sch, symbol);
    va_list args;
    va_start(args, format);
    refuse_at(sch, argument ? argument_span(sch, argument) : sch->call_span, format, args);
    va_end(args);
    return false;
}

void sched_note(Schedule *sch, Span span, const char *format, ...)
{
    if (!span.file) /* what a step made stands nowhere in the text */
        return;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    diag_note(sch->ctx, span, "%s", text);
    sch->refused_without_place = false;
}

bool sched_note_node(Schedule *sch, const TreeNode *node)
{
    bool loop = node->stmt->kind == STMT_FOR;
    if (loop || node->stmt->kind == STMT_BLOCK)
        sched_note(sch, node->stmt->span, "%s '%s' is here", loop ? "loop" : "block", node_name(node));
    else
        sched_note(sch, node->stmt->span, "the statement is here");
    return false;
}

/* --- Names --- */

static bool block_name_taken(Schedule *sch, const char *name)
{
    int count = schedule_node_count(sch);
    for (int i = 0; i < count; i++) {
        const Stmt *stmt = schedule_node_at(sch, i)->stmt;
        if (stmt->kind == STMT_BLOCK && !strcmp(stmt->as.block.block->name, name))
            return true;
    }
    return false;
}

Str schedule_fresh_block_name(Schedule *sch, Str name)
{
    Str fresh = name;
    for (int suffix = 1; block_name_taken(sch, fresh); suffix++)
        fresh = context_internf(sch->ctx, "%s_%d", name, suffix);
    return fresh;
}
