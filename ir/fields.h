/* The fields of statements as data (stmt_fields.def). Private to ir, but for tests: others visit and rewrite through ir/walk.h. */
#ifndef TIRC_IR_FIELDS_H
#define TIRC_IR_FIELDS_H

#include <stddef.h>

#include "ir/walk.h"

typedef enum {
    FIELD_END,
    FIELD_PLAIN,      /* nothing to visit: names, numbers, constants, identities */
    FIELD_EXPR,       /* const Expr *; may be NULL */
    FIELD_EXPRS,      /* an array of them; may be NULL */
    FIELD_VAR,        /* a Var that is defined here; may be NULL */
    FIELD_BLOCK,      /* a Block */
    FIELD_BUFFER,     /* a Buffer that is defined here, with the expressions of its layout */
    FIELD_BUFFERS,    /* an array of them */
    FIELD_BUFFER_USE, /* a Buffer that is defined elsewhere */
    FIELD_REGION,     /* a Region in place */
    FIELD_REGIONS,    /* an array of them */
    FIELD_ITERS,      /* an array of Iter */
    FIELD_MATCHES,    /* an array of MatchBuffer */
    FIELD_ATTRS,      /* Attrs in place */
    FIELD_STMT,       /* const Stmt *; may be NULL */
    FIELD_STMTS,      /* an array of them */
} FieldShape;

typedef struct {
    FieldShape shape;
    Moment moment;
    const char *name; /* of the member */
    size_t offset, count_offset;
} Field;

/* The fields of a kind of statement, and of an axis, a match_buffer and a defined buffer; the last one is FIELD_END. */
const Field *stmt_fields(StmtKind kind);
const Field *iter_fields(void);
const Field *match_fields(void);
const Field *buffer_fields(void);

/* The field in the node at NODE. */
static inline const void *field_in(const Field *field, const void *node)
{
    return (const char *)node + field->offset;
}
/* The number of elements of an array. */
static inline int field_count(const Field *field, const void *node)
{
    return *(const int *)(const void *)((const char *)node + field->count_offset);
}

#endif
