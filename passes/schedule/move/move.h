/* Shared by compute_at and reverse_compute_at: where a block may be put below a loop, which instances are needed there, and moving it. */
#ifndef TIRC_PASSES_SCHEDULE_MOVE_MOVE_H
#define TIRC_PASSES_SCHEDULE_MOVE_MOVE_H

#include "passes/arith/int_set.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    Schedule *sch;
    const TreeNode *block, *loop;
    bool reverse; /* a consumer goes to its producers */
    bool in_place; /* the consumer reads memory that it writes */
    bool preserve_unit_loops;
    int64_t index;
    const Value *index_argument; /* where the call says it */
    const TreeNode **partners; /* compute_at: the consumers, reverse: the producers; all below the loop */
    int partner_count;
    /* a spatial iterator of a producer whose instances run in another order than before and that the partners say nothing of, or NULL */
    const Iter *ordered;
    bool by_digits; /* domains come from digits of the elements that the block writes, which are only taken to tell its instances apart */
    /* a reduce iterator that is bound to loops which stay around the block, so that its partners see unfinished reductions, or NULL */
    const Iter *partial;
    int position; /* among the statements of the loop's body */
} Move;

/* What is known of the values that one block iterator needs: DOMAIN is run over, BOUND must not be left (a guard where that is not
   certain). A NULL end is unknown. */
typedef struct {
    IntSet domain, bound;
    bool has_domain, has_bound;
} IterDomain;

/* Domains of the block's axes that depend on loops which it leaves become wide enough for all their iterations, where these are known. */
void move_widen_domains(Move *move);
/* Finds where the block is put (move->position); false after a refusal. */
bool move_find_position(Move *move);
/* The domain of each iterator of the block in one iteration of the loop: what the partners there need of it (reverse: give to it). */
IterDomain *move_solve_domains(Move *move, Analyzer *an);
/* The block below new loops ax0, ax1, ... over DOMAINS; iterators with one value get no loop unless unit loops are preserved. */
const Stmt *move_build_nest(Move *move, Analyzer *an, const IterDomain *domains);
/* VAR is bound by a loop or let that stays around the block, or is a size. */
bool move_keeps_meaning(Move *move, const Var *var);
/* What the block's predicate says of its instances beyond their domains, for the bindings of MOVED, which is the block with new ones.
   Conjuncts that cannot be said in terms of iterators and of loops around the target loop are left out. */
const Expr *move_bound_predicate(Move *move, const BlockStmt *moved);
/* Takes the block out of its place, with the loops that held nothing else, and puts NEST at the position below the loop. */
const Stmt *move_rebuild_scope(Move *move, const TreeNode *scope, const Stmt *nest);

/* After the move: gives each axis of the block the type of what it is bound to now where that is wider. */
void move_fit_axis_types(Move *move);

/* The statements that a loop's body runs one after the other; a single statement is a list of one. */
int body_items(const Stmt *body, const Stmt *const **items);
/* The child of LOOP's body below which NODE lies, as an index into body_items; -1 when NODE is not below LOOP. */
int move_child_of(Schedule *sch, const TreeNode *loop, const TreeNode *node);

#endif
