/* See legality.h. */
#include "passes/schedule/legality.h"

static void note_access(Schedule *sch, const Access *access, const char *which)
{
    if (access && access->span.file)
        sched_note(sch, access->span, "the %s access is here", which);
}

bool refuse_conflict(Schedule *sch, const Conflict *conflict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sch->ctx->arena, format, args);
    va_end(args);
    sched_refuse(sch, "%s: %s", text, conflict->text);
    note_access(sch, conflict->first, "first");
    if (conflict->second != conflict->first)
        note_access(sch, conflict->second, "second");
    return false;
}

bool check_order_is_kept(Schedule *sch, const Func *before, const Stmt *old_part, const Stmt *new_part, const Var *innermost)
{
    Conflict conflict;
    if (!dependence_reordered(sch->ctx, before, old_part, schedule_func(sch), new_part, innermost, &conflict))
        return true;
    return refuse_conflict(sch, &conflict, "the new order would change what the program computes");
}
