/* Shared by the parts of the script interpreter. */
#ifndef TIRC_SCRIPT_SCRIPT_INTERNAL_H
#define TIRC_SCRIPT_SCRIPT_INTERNAL_H

#include "parser/parser.h"
#include "script/script.h"

/* Objects that only scripts know, behind VALUE_SCRIPT. */
typedef enum {
    OBJECT_SCHEDULE,  /* sch */
    OBJECT_MODULE,    /* a program: sch.mod, or the name of the input's module */
    OBJECT_FUNC,      /* sch.mod["main"] */
    OBJECT_NAMESPACE, /* tvm, tvm.tir, IPython.display, ...: a dotted name that leads to known functions */
    OBJECT_DEF,       /* a function or lambda of the script */
    OBJECT_BUILTIN,   /* len, range, ... */
    OBJECT_METHOD,    /* an object's function, not called yet */
    OBJECT_VALUE,     /* a string, list or dict whose method is meant */
    OBJECT_TYPE,      /* a type that is no builtin function */
    OBJECT_TRACE,     /* sch.trace */
    OBJECT_NODE,      /* sch.get(loop or block): a statement of the program */
    OBJECT_REGION,    /* one of a block's reads and writes */
    OBJECT_GLOBAL_VAR, /* the name of a function of a module */
    /* of tensor expressions, see te.h */
    OBJECT_TENSOR,
    OBJECT_SLICE,     /* a tensor with some of its indices */
    OBJECT_OPERATION, /* tensor.op */
    OBJECT_AXIS,
    OBJECT_RANGE,     /* axis.dom */
    OBJECT_REDUCER,   /* what te.comm_reducer gives */
    OBJECT_REDUCTION, /* one result of a reduction */
    OBJECT_BUFFER,    /* what the function of te.extern takes */
    OBJECT_STAGES,    /* what te.create_schedule gives */
    OBJECT_STAGE,     /* s[C] */
    OBJECT_BUILDER,   /* what tvm.tir.ir_builder.create gives */
    OBJECT_ARRAY,     /* of numbers; see nd_array.h */
    OBJECT_PASS,      /* what tvm.tir.transform.Simplify() gives */
    OBJECT_BUILT,     /* what tvm.build gives, and a function of it */
    OBJECT_EXCEPTION, /* what ValueError() gives */
    OBJECT_TAG_SCOPE, /* what te.tag_scope("tag") gives */
    OBJECT_SET,
    OBJECT_SEQUENCE,  /* a range, a view of a dict, an iterator; see sequence.h */
} ObjectKind;

typedef enum {
    EXCEPTION_NONE,
#define EXCEPTION(name, base) EXCEPTION_##name,
#include "script/exceptions.def"
#undef EXCEPTION
} ExceptionKind;

typedef struct Environment Environment;
typedef struct Object {
    ObjectKind kind;
    union {
        Schedule *schedule; /* of OBJECT_TRACE, too */
        const Stmt *stmt; /* OBJECT_NODE */
        const Region *region;
        const Module *module; /* OBJECT_MODULE */
        const Func *func;
        Str path; /* OBJECT_NAMESPACE; OBJECT_TYPE, OBJECT_GLOBAL_VAR: the name; OBJECT_TAG_SCOPE: the tag */
        Value value; /* OBJECT_VALUE */
        struct {
            const AstNode *node; /* AST_DEF or AST_LAMBDA */
            const Value *defaults; /* one per parameter, VALUE_NONE where there is none */
            Environment *closure;
        } def;
        const struct Tensor *tensor;
        struct {
            const struct Tensor *tensor;
            const Expr **indices;
            int count;
        } slice;
        const struct Operation *operation;
        const Iter *axis; /* OBJECT_AXIS, OBJECT_RANGE */
        const struct Reducer *reducer;
        struct {
            const struct Reduction *all;
            int index;
        } reduction;
        Buffer *buffer;
        struct Builder *builder;
        const struct NdArray *array;
        struct Sequence *sequence;
        struct Set *set;
        struct {
            ExceptionKind kind;
            const ValueList *args;
            const char *text; /* of the diagnostic that it was; NULL: the script made it */
        } exception;
        struct {
            const Module *module;
            const Func *func; /* or NULL */
        } built;
        struct {
            const int *rows; /* of passes/transform/transform.h */
            int count;
        } pass;
        struct StageSchedule *stages;
        struct {
            struct StageSchedule *schedule;
            const struct Operation *op;
        } stage;
        int builtin; /* index in the table of builtins.c */
        struct {
            const struct Object *self;
            Str name;
        } method;
    } as;
} Object;

/* Variables of a function call or of the whole script. */
struct Environment {
    Environment *outer;
    bool comprehension; /* the variables of a comprehension, which ':=' does not set */
    const Map *elsewhere; /* names of `global` and `nonlocal` -> the AST_GLOBAL or AST_NONLOCAL; NULL: none */
    const Map *locals; /* of a function: the names that its body assigns to, so that it never reads them from OUTER; else NULL */
    Map values; /* interned name -> Value * */
};

/* What a statement leads to. */
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_ERROR } Flow;

/* The exception that the last diagnostics, behind BEFORE, are. Where there are more than ERRORS by now, or ERRORS is 0, it is none that can be caught. */
typedef struct {
    Value exception;
    DiagMark before;
    int errors;
} Raised;

typedef struct Script Script;
typedef struct Sequence Sequence; /* sequence.h */
struct Script {
    Script *kept; /* a copy that outlives the run: rules for operations are called later */
    Context *ctx;
    const ScriptOptions *options;
    const Module *input;
    Schedule *schedule; /* the one made last */
    Map copies; /* schedules that copy() gave */
    Map sources; /* Schedule or Module -> the unscheduled Module that it comes of */
    Environment *globals, *scope;
    Value returned;
    Raised raised;
    const Object *handled; /* the exception whose handler runs, or NULL */
    VEC(Span) calls; /* places of the script's function calls now running, outermost first */
    uint64_t random; /* the state of numpy.random */
    Str tag; /* of operations that are made in the `with te.tag_scope(...)` that runs, or NULL */
    int loops; /* around the statement that runs, inside of the function called last */
    long steps; /* statements and the like so far */
    int steps_made; /* of schedules: calls of primitives that do more than ask */
    int mapping; /* functions that a step has called and that run now: no other step begins in them */
    int iterators; /* that are being asked for an item, inside of one another */
    int depth; /* of expressions that are being evaluated, inside of one another */
    long made; /* items of lists, and parts of strings, that the script has made */
    Map elsewhere; /* AST_DEF node -> Map as that of Environment */
    Map locals; /* AST_DEF or AST_LAMBDA node -> Map of the names that it assigns to */
    Map called;     /* AST_DEF and AST_LAMBDA nodes that were called */
    Map stage_blocks; /* Operation -> name of its block in the function that was made last */
    Map stage_buffers; /* Tensor -> its Buffer in that function */
    Map tensors;    /* Buffer -> Tensor that it stands for */
    const Module *lowered_last; /* what tvm.lower, tvm.build or te.create_prim_func made last, or NULL */
    const Object *bound_last; /* the module that a variable of the script was set to last */
    Map packages;   /* interned name of a package whose functions are texts, "topi" -> Environment */
    IntrinList intrins; /* of the input, and those that the script registered */
};

/* Positional and keyword arguments of a call, evaluated. */
typedef struct {
    Value *positional;
    int positional_count;
    Str *keyword_names;
    Value *keywords;
    Span *keyword_spans;
    int keyword_count;
    Span span; /* the whole call */
} Arguments;

/* Each gives false after a diagnostic. */
bool script_error(Script *script, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* An error that Python has too, so that `except` catches it. */
bool script_raise(Script *script, Span span, ExceptionKind kind, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with ARGUMENT, what Python gives the exception, in place of the text of the diagnostic. */
bool script_raise_with(Script *script, Span span, ExceptionKind kind, Value argument, const char *text);
/* The diagnostics since BEFORE are an exception of KIND; returns false. */
bool script_raised(Script *script, DiagMark before, ExceptionKind kind);
bool script_run_raise(Script *script, const AstNode *node);
Flow script_run_try(Script *script, const AstNode *node);
Flow script_run_with(Script *script, const AstNode *node);
/* An error about an unknown name at SPAN, for which NEAR may be meant (NULL: none); with a repair. */
bool script_unknown(Script *script, Span span, const char *near, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Notes the calls that the script is in, after an error: the innermost and outermost few. */
void script_note_calls(Script *script);
/* SPAN is in the text of an operator that is shipped (topi.c). */
bool topi_is_text(const Script *script, Span span);
bool script_eval(Script *script, const AstNode *node, Value *result);
/* The value of the variable NAME, or NULL. */
const Value *script_lookup(const Script *script, Str name);
/* The value of the variable or builtin function that NODE, an AST_NAME, names. */
bool script_eval_name(Script *script, const AstNode *node, Value *result);
/* The names that the function NODE assigns to. */
const Map *script_locals(Script *script, const AstNode *node);
/* The names of the function NODE that are not its own; NULL: none. */
const Map *script_elsewhere(Script *script, const AstNode *node);
/* Forgets the value of NAME, if it has one. */
void script_unset(Script *script, Str name);
bool script_assign(Script *script, const AstNode *target, Value value);
bool script_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
bool script_compare(Script *script, AstOp op, Value left, Value right, Span span, bool *result);
/* VALUE is not nested so deeply, and has not so many parts, that nothing should walk over it. */
bool script_can_walk(Script *script, Value value, Span span);
bool script_attribute(Script *script, Value self, const AstNode *node, Value *result);
bool script_subscript(Script *script, Value self, const AstNode *node, Value *result);
/* What a slice takes of a sequence: the indices FIRST + i * STEP for 0 <= i < COUNT, all of them in the sequence. */
typedef struct {
    int64_t first, step, count;
} SliceRange;
/* SLICE of a sequence of COUNT items as Python has it, with negative bounds and steps; false after an error. */
bool script_resolve_slice(Script *script, const AstNode *slice, int64_t count, SliceRange *range);
/* CONTAINER[...] = VALUE, as TARGET, an AST_SUBSCRIPT, says it. */
bool script_assign_item(Script *script, Value container, const AstNode *target, Value value);
bool script_dict_set(Script *script, Value dict, Value key, Value value);
/* Sets what OTHER, a dict or a list of pairs, holds. */
bool script_dict_update(Script *script, Value dict, Value other, Span span);
/* del TARGET. */
bool script_delete(Script *script, const AstNode *target);
bool script_delete_item(Script *script, Value container, const AstNode *target);
/* What Python calls the type of VALUE. */
const char *script_class_of(Value value);
/* What Python calls the type of an object. */
const char *script_class_name(Value value);
/* Adds COUNT items to the end of LIST, which other values may hold. */
bool script_append(Script *script, ValueList *list, const Value *items, int count, Span span);
/* VALUE may become a part of LIST: LIST is no part of it. */
bool script_can_hold(Script *script, const ValueList *list, Value value, Span span);
/* The defaults of the parameters of a function, evaluated where it is defined, as in Python. */
bool script_parameters(Script *script, const AstParam *params, int count, Value **defaults);
/* Calls CALLEE; CALL is the syntax of the call. */
bool script_call(Script *script, Value callee, const AstNode *call, Value *result);
/* Calls CALLEE, anything that can be called, with ARGUMENTS. */
bool script_call_value(Script *script, Value callee, const Arguments *arguments, Value *result);
bool script_call_def(Script *script, const Object *def, const Arguments *arguments, Value *result);
/* PATH names a lowering pass, or Sequential; a package that holds some. */
bool script_is_pass(Script *script, const char *path);
bool script_is_pass_package(const char *path);
/* The pass that a call of PATH makes, and what a pass makes of a program. */
bool script_make_pass(Script *script, const char *path, const Arguments *arguments, Value *result);
bool script_call_pass(Script *script, const Object *pass, const Arguments *arguments, Value *result);
bool script_call_builtin(Script *script, int builtin, const Arguments *arguments, Value *result);
bool script_call_method(Script *script, const Object *method, const Arguments *arguments, Value *result);
/* The packages that every script knows: tvm, te, ... */
void script_predefine_packages(Script *script);
/* Keeps a copy of SCRIPT, which has ended, as SCRIPT->kept. */
void script_keep(Script *script);
/* The variables that the command line presets. */
bool script_define_presets(Script *script);
/* What an item of an import binds. */
Str script_import_name(Script *script, const AstImportItem *item);
/* --- math.c: the module `math`. PATH as in "math.sqrt"; a constant of it --- */
bool math_knows(const char *path);
bool math_constant(const char *path, Value *result);
bool math_call(Script *script, const char *path, const Arguments *arguments, Value *result);
/* The name of function number INDEX; NULL behind the last one. */
const char *math_name(int index);
/* A function of tvm.contrib called NAME. */
bool script_call_contrib(Script *script, const char *name, const Arguments *arguments, Value *result);
bool script_call_namespace(Script *script, Str path, const Arguments *arguments, Value *result);
/* Counts a statement, or an item of a comprehension; false after a diagnostic when there were too many. */
bool script_step(Script *script, Span span);
/* ARRAY op= VALUE, in the array's own memory (nd_array.c). */
bool nd_update(Script *script, AstOp op, const struct NdArray *array, Value value, Span span);
/* Runs statements; the value of a `return` is in script->returned. */
Flow script_run_body(Script *script, AstList body);

bool script_truth(Value value);
/* The same as a condition of a statement or an operator; false after a diagnostic where VALUE, an expression, has no truth yet. */
bool script_condition(Script *script, Value value, Span span, bool *result);

/* --- expressions.c: operators of which an operand is an expression --- */
/* VALUE is an expression, and the script runs a function that a step calls: elsewhere expressions are sampled values. */
bool script_is_expr(const Script *script, Value value);
bool script_expr_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
bool script_expr_compare(Script *script, AstOp op, Value left, Value right, Span span, Value *result);
bool script_expr_unary(Script *script, AstOp op, Value operand, Span span, Value *result);
/* PATH is a function of T or tvm.tir that makes an expression; NAME is the last part of such a path. */
bool script_is_tensor_function(const char *path);
bool script_call_tensor_function(Script *script, const char *name, const Arguments *arguments, Value *result);

/* --- index_function.c --- */
/* VALUE as a step gets it: a function of the script as one that it can call. */
Value script_index_function(Script *script, Value value);
/* tvm.tir.IndexMap.from_func and T.index_map, called NAME. */
bool script_make_index_map(Script *script, const char *name, const Arguments *arguments, Value *result);
bool script_is_number(Value value);
/* Python's ==. The values are such that script_can_walk allows. */
bool script_equal(Value left, Value right);
/* The value that DICT has for KEY, or NULL. */
const Value *script_dict_find(Value dict, Value key);
void script_set(Script *script, Str name, Value value);
Value script_object(Script *script, Object object);
const Object *value_object(Value value, ObjectKind kind);
/* MODULE with the tensor intrinsics that every program knows, unless it defines them itself. */
const Module *script_with_builtin_intrinsics(Context *ctx, const Module *module);
/* What the dotted name PATH of a package stands for: the name of a built-in tensor intrinsic, or what leads to more names. PATH is a package of such names. */
Value script_path_value(Script *script, Str path);
/* Those that the ARGUMENTS of tensorize name, and that the script does not register, become known to it. */
void script_want_intrinsics(Script *script, const Arguments *arguments);
bool script_is_intrinsic_package(const char *path);
/* The builtin function NAME, or -1. */
int builtin_find(const char *name);
/* The name of builtin function number BUILTIN; NULL behind the last one. */
const char *builtin_name(int builtin);
/* The arguments of a call of NAME: at most POSITIONAL, and keywords out of the COUNT names KEYWORDS. */
bool script_check_keywords(Script *script, const char *name, const Arguments *arguments, int positional, const char *const *keywords,
                           int count);
/* The keyword argument NAME, or NULL. */
const Value *script_keyword(const Arguments *arguments, const char *name);
/* A decorated function or class of the script: a tensor program, which gets its name. */
bool script_define_program(Script *script, const AstNode *node);
/* tvm.tir.TensorIntrin.register. */
bool script_register_intrin(Script *script, const Arguments *arguments, Value *result);
/* MODULE with the tensor intrinsics that the script has registered so far. */
const Module *script_add_intrins(Script *script, const Module *module);
/* False after a diagnostic where PATH, the dotted name of something in a Python package, is not known here. */
bool script_known_path(Script *script, Str path, Span span);
/* No list or range of a script has more items, no string more bytes. */
enum { SCRIPT_MOST_ITEMS = 1000000 };
/* The items that a `for`, a starred argument or an unpacking goes over: those of a list or tuple, the keys of a dict, the characters of a
   string; NULL for other values, after the diagnostic REFUSAL: a format with the type of VALUE. */
const ValueList *script_items(Script *script, Value value, Span span, const char *refusal);
/* SET op= VALUE: in the set itself, which other names may hold too. */
bool script_update_set(Script *script, AstOp op, Value set, Value value, Span span, Value *result);
/* The first COUNT items of VALUE, and one more where it has one: nothing asks an iterator for what no target takes. */
const ValueList *script_first_items(Script *script, Value value, int count, Span span, const char *refusal);
/* An iterator over VALUE, which may be one. False after the diagnostic REFUSAL, a format with the type of VALUE. */
bool script_iterate(Script *script, Value value, Span span, const char *refusal, Sequence **iterator);
/* The next item of ITERATOR; *ENDED where there is none. False after a diagnostic. */
bool iterator_next(Script *script, Sequence *iterator, Value *item, bool *ended);
Value script_list(Script *script, const Value *items, int count, bool is_tuple);
/* As Python's str(). A function or method has none. */
bool script_text(Script *script, Value value, const char **result);
/* Functions and methods, which are there to be called. */
bool script_is_callable(const Object *object);
/* The name of a function, method or type. */
const char *script_callable_name(const Object *object);
/* Refuses CALLABLE at SPAN, where it stands without being called; WHY as in "has no text". Always false. */
bool script_refuse_uncalled(Script *script, const Object *callable, Span span, const char *why);
/* SCH samples from SEED on; NULL, None and -1 are the command line's. */
bool script_seed(Script *script, Schedule *sch, const Value *seed);
/* The trace of SCH as TVM prints it: a function that makes the steps again; without a newline at its end. */
const char *script_trace_text(Script *script, const Schedule *sch);
/* The name under which a trace gives PARAMETER to PRIMITIVE; NULL: it gives it without one. */
const char *script_trace_spelling(const Primitive *primitive, const Parameter *parameter);
/* The methods of schedules that are no primitives, and those of traces. */
bool script_schedule_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result);
bool script_trace_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result);
/* NAMES, ended by NULL, of these methods and attributes. */
extern const char *const script_schedule_names[], *const script_trace_names[], *const script_node_names[], *const script_region_names[];
/* Attribute NAME, one of those names, where it is no method: *RESULT set. False where it is one. */
bool script_schedule_attribute(Script *script, const Object *self, Str name, Value *result);
bool script_node_attribute(Script *script, const Object *self, Str name, Value *result);
/* The buffer of REGION, an OBJECT_REGION. */
Value script_region_buffer(Script *script, const Object *region);
/* A method of the object SELF under NAME, not called yet. */
Value script_method(Script *script, const Object *self, Str name);
/* What module.show() and module.script() do. */
bool script_module_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result);
/* "list", "loop", "module", ...: for messages. */
const char *script_type_name(Value value);
/* The same as part of a sentence: "a list", "an int", "None". */
const char *script_type_phrase(Script *script, Value value);

#endif
