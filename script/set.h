/* Sets of scripts; see set.c. */
#ifndef TIRC_SCRIPT_SET_H
#define TIRC_SCRIPT_SET_H

#include "script/methods.h"
#include "script/script_internal.h"

typedef struct Set Set;

/* The set that VALUE is, or NULL. */
Set *value_set(Value value);
Value set_value(Script *script, bool frozen);
bool set_is_frozen(const Set *set);
int set_count(const Set *set);
/* Item number AT or the next one, in the order of the set; AT becomes the place behind it. NULL: no more. */
const Value *set_next(const Set *set, int *at);
const ValueList *set_items(Script *script, const Set *set);
/* False after a diagnostic. */
bool set_add(Script *script, Value set, Value item, Span span);
/* Adds the items of VALUE. */
bool set_update(Script *script, Value set, Value value, Span span);
bool set_contains(Script *script, const Set *set, Value item, Span span, bool *found);
bool sets_equal(const Set *left, const Set *right);
/* |, &, - and ^ of two sets; IN_PLACE: LEFT becomes the result unless it is frozen. */
bool set_binary(Script *script, AstOp op, Value left, Value right, bool in_place, Span span, Value *result);
/* <, <=, > and >=. */
bool set_compare(AstOp op, const Set *left, const Set *right);
/* A display {1, 2}, whose items were evaluated. */
bool set_display(Script *script, const AstNode *node, const Value *items, int count, Value *result);
extern const ValueMethod set_methods[];

#endif
