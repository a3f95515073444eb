/* The tables of stmt_fields.def; see fields.h. */
#include "ir/fields.h"

#define NODE(name, type) static const Field fields_##name[] = {
#define FIELD(type, member, shape, moment) {FIELD_##shape, MOMENT_##moment, #member, offsetof(type, member), 0},
#define ARRAY(type, member, shape, count, moment) {FIELD_##shape, MOMENT_##moment, #member, offsetof(type, member), offsetof(type, count)},
#define END {.shape = FIELD_END}};
#include "ir/stmt_fields.def"
#undef NODE
#undef FIELD
#undef ARRAY
#undef END

const Field *stmt_fields(StmtKind kind)
{
    switch (kind) {
    case STMT_SEQ: return fields_SEQ;
    case STMT_FOR: return fields_FOR;
    case STMT_WHILE: return fields_WHILE;
    case STMT_BLOCK: return fields_BLOCK;
    case STMT_IF: return fields_IF;
    case STMT_LET: return fields_LET;
    case STMT_STORE: return fields_STORE;
    case STMT_EVALUATE: return fields_EVALUATE;
    case STMT_ALLOCATE: return fields_ALLOCATE;
    case STMT_ALLOCATE_CONST: return fields_ALLOCATE_CONST;
    case STMT_DECL_BUFFER: return fields_DECL_BUFFER;
    case STMT_ATTR: return fields_ATTR;
    case STMT_ASSERT: return fields_ASSERT;
    case STMT_REALIZE: return fields_REALIZE;
    }
    return NULL;
}

const Field *iter_fields(void)
{
    return fields_ITER;
}

const Field *match_fields(void)
{
    return fields_MATCH;
}

const Field *buffer_fields(void)
{
    return fields_BUFFER;
}
