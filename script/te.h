/* Tensor expressions: values of scripts that describe tensors, and the prim_funcs that are made of them. The expressions in them are IR
   expressions; a read of a tensor is a load from the buffer that stands for it. */
#ifndef TIRC_SCRIPT_TE_H
#define TIRC_SCRIPT_TE_H

#include "script/script_internal.h"

typedef struct Operation Operation;

/* One result of an operation. */
typedef struct Tensor {
    Operation *op;
    int index;
    Buffer *buffer; /* stands for the tensor in expressions */
} Tensor;

/* te.comm_reducer, te.sum, ...: how two values become one. */
typedef struct Reducer {
    Str name;
    Value combine, identity; /* functions of the script; VALUE_NONE for the reducers that are there from the start */
    ExprKind kind;           /* of those: EXPR_ADD, EXPR_MUL, EXPR_MIN, EXPR_MAX */
} Reducer;

/* A reduction of COUNT values side by side. RESULTS are over the variables LEFT and RIGHT. */
typedef struct Reduction {
    int count;
    Var **left, **right;
    const Expr **results, **identities, **sources;
    const Iter **axes;
    int axis_count;
    const Expr *condition; /* NULL: true */
    const Expr **initial;  /* NULL: the identities */
    Span span;
} Reduction;

typedef enum { OPERATION_PLACEHOLDER, OPERATION_COMPUTE, OPERATION_EXTERN, OPERATION_SCAN } OperationKind;

struct Operation {
    OperationKind kind;
    Str name, tag;
    Attrs attrs;
    Value attr_values; /* the dict that the script gave; tensors in it become buffers */
    const Iter **axes; /* OPERATION_COMPUTE */
    int axis_count;
    const Reduction *reduction; /* or NULL: then BODIES */
    const Expr **bodies;        /* one for each result */
    Tensor **results;
    int result_count;
    Tensor **inputs; /* OPERATION_EXTERN: in the order of the call; OPERATION_SCAN */
    int input_count;
    Tensor **inits, **updates, **states; /* OPERATION_SCAN: of each result */
    Buffer **placeholders; /* OPERATION_EXTERN: what stands for the inputs in the body */
    const Stmt *body;      /* OPERATION_EXTERN */
    Span span;
};

/* --- values --- */
Value te_tensor_value(Script *script, const Tensor *tensor);
Value te_expr_value(const Expr *expr);
/* The same, but a constant of int32 is a number of the script. */
Value te_size_value(const Expr *expr);
/* VALUE takes part in expressions: an expression, an axis, a tensor's element. */
bool te_is_expression(Value value);
/* VALUE is that, a tensor, or a reduction, which operators refuse. */
bool te_takes_part(Value value);
/* VALUE is a tensor, all of it. */
const Tensor *te_tensor(Value value);
/* VALUE as an expression; false after a diagnostic at SPAN. */
bool te_to_expr(Script *script, Value value, Span span, const Expr **result);
/* The items of VALUE, one value or a list, as expressions: *COUNT of them. */
bool te_to_exprs(Script *script, Value value, Span span, const Expr ***result, int *count);
/* Operators of which an operand is an expression or a tensor. */
bool te_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
/* Brings A and B to one type, as operators do; false after a diagnostic. */
bool te_match_types(Script *script, const Expr **a, const Expr **b, Span span);
/* KIND of A and B, with the neutral operands left out that TVM leaves out; NULL after a diagnostic. */
const Expr *te_operation(Script *script, ExprKind kind, const Expr *a, const Expr *b, Span span);
bool te_compare(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
bool te_unary(Script *script, AstOp op, Value operand, Span span, Value *result);
/* The attributes of expressions and te objects. *FOUND: there is one of this name. */
bool te_attribute(Script *script, Value self, Str name, Span span, Value *result, bool *found);
/* The attributes that te_attribute knows of OBJECT, ended by NULL. */
const char *const *te_attribute_names(const Object *object);
/* TENSOR(indices) and TENSOR[indices]. */
bool te_index(Script *script, Value tensor, const Value *indices, int count, Span span, Value *result);
/* A method of an expression or tensor, such as astype. */
bool te_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result);

/* --- functions: te.NAME, tvm.tir.NAME, T.NAME --- */
/* The index of the function that the path PATH of Python packages means; -1: none. */
int te_function(const char *path);
/* The name of function number INDEX; NULL behind the last one. */
const char *te_function_name(int index);
bool te_call(Script *script, int function, const Arguments *arguments, Value *result);
bool te_call_reducer(Script *script, const Reducer *reducer, const Arguments *arguments, Value *result);
/* Binds ARGUMENTS to the parameters that SIGNATURE names, divided by blanks, each with a '?' behind it where it may be left out (NULL then). */
bool te_bind(Script *script, const char *function, const Arguments *arguments, const char *signature, const Value **values);
bool te_dtype(Script *script, const Value *value, DType otherwise, DType *result);
bool te_name(Script *script, const Value *value, const char *otherwise, Str *result);

typedef bool TeFunction(Script *script, const Arguments *arguments, Value *result);
TeFunction te_placeholder, te_compute, te_reduce_axis, te_range, te_range_from_min_extent, te_comm_reducer, te_extern, te_scan, te_create_prim_func, te_ir_module, te_decl_buffer, te_call_packed;
/* The least or greatest value of DTYPE. */
const Expr *te_limit(Script *script, DType dtype, bool greatest);
/* What tvm.tir.ir_builder.create gives: code, statement by statement. */
typedef struct Builder {
    VEC(const Stmt *) stmts;
} Builder;
TeFunction te_builder, te_decl_tensor_intrin;
bool te_builder_has(const char *name);
bool te_builder_call(Script *script, const Object *self, const char *name, const Arguments *arguments, Value *result);
/* The operation of a tensor, an operation or a stage; NULL for other values. */
const Operation *te_operation_of(Value value);
/* The tensors that OP gives: one, or a list of them. */
Value te_operation_results(Script *script, const Operation *op);
/* The buffers of te.extern. */
bool te_buffer_attribute(Script *script, const Object *self, Str name, Value *result);
bool te_buffer_method(Script *script, const Object *self, const Arguments *arguments, Value *result);
/* The functions of mathematics: NAME of ARGUMENTS. */
bool te_math(Script *script, const char *name, const Arguments *arguments, Value *result, bool *known);

/* The prim_func that computes the tensors ARGUMENTS, whose indices have INDEX_DTYPE (of no bits: the type that the text gives them); NULL after a
   diagnostic, as for te.scan where SCANS is false. */
const Func *te_build_func(Script *script, const Value *arguments, int count, bool scans, DType index_dtype, Span span);
/* The operations that RESULTS need, each after those that it reads. */
typedef VEC(const Operation *) OperationList;
bool te_order(Script *script, const Value *arguments, int count, bool scans, OperationList *order);
/* The name of result INDEX of OPERATION, as TVM gives it to the buffer: of several, with its number. */
Str te_result_name(Script *script, const Operation *operation, int index);
/* The tensors that OPERATION reads, each once, in the order of its text. */
typedef VEC(const Tensor *) TensorList;
TensorList te_inputs(Script *script, const Operation *operation);
/* The tensor that BUFFER stands for, or NULL. */
const Tensor *te_tensor_of(Script *script, const Buffer *buffer);

/* --- programs as values (module_value.c) --- */
const Module *script_module_of_funcs(Script *script, const Func *const *funcs, int count, bool bare);
bool script_module_from_expr(Script *script, const Arguments *arguments, Value *result);
bool script_with_attr(Script *script, const Func *func, const Arguments *arguments, Value *result);
bool script_without_attr(Script *script, const Func *func, const Arguments *arguments, Value *result);
bool script_global_var(Script *script, const Module *module, const Arguments *arguments, Value *result);
bool script_update_func(Script *script, const Object *self, const Arguments *arguments, Value *result);
/* The program that the variables of the script hold at its end; NULL after a diagnostic. */
const Module *script_bound_program(Script *script, Span span);

/* --- te.create_schedule (te_schedule.c) --- */
typedef struct StageSchedule StageSchedule;
TeFunction te_tag_scope;
/* The tag of an operation: GIVEN, NULL where there is none, or that of the `with te.tag_scope(...)` around it. */
bool te_tag(Script *script, const Value *given, Span span, Str *tag);
TeFunction te_create_schedule, te_thread_axis, te_lower;
/* Schedules of stages have the method NAME. */
bool te_stages_have(const char *name);
bool te_stages_call(Script *script, const Object *stages, const char *name, const Arguments *arguments, Value *result);
/* Stages have the method NAME. */
bool te_stage_has(const char *name);
/* STAGES[KEY]. */
bool te_stage(Script *script, const Object *stages, Value key, Span span, Value *result);
bool te_stage_call(Script *script, const Object *stage, const char *name, const Arguments *arguments, Value *result);

/* --- operations of scripts (intrin_rules.c) --- */
bool script_register_op_attr(Script *script, const Arguments *arguments, Value *result);
bool script_register_lowering(Script *script, const Arguments *arguments, Value *result);

/* --- packages of operators whose functions are texts (topi.c) --- */
/* The function NAME of PACKAGE, "topi" or "topi.nn". False after a diagnostic. */
bool topi_find(Script *script, const char *package, const char *name, Value *result);
/* PATH is of such a package: *RESULT is the function, or the package itself. *KNOWN is false where it is of another one. */
bool topi_resolve(Script *script, Str path, Span span, Value *result, bool *known);

/* The operation of tirc that "tir.exp" or "exp" names. */
bool te_named_op(const char *name, Op *op);

#endif
