/* The grammar of Python's shapes, as far as tensor programs and schedule scripts use them. It knows no T name. A statement with a syntax
   error is dropped up to its end, together with the block it may head, so that one run reports several errors. The span of a compound
   statement is its header. */
%code requires {
#include "parser/ast_build.h"
}

%define api.pure full
%define api.prefix {tir_}
%define api.token.prefix {TOKEN_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%param {Parse *parse}
%initial-action { @$ = (Span){parse->source, 0, 0}; }
%expect 0

%union {
    Str text;
    uint64_t integer;
    double real;
    AstOp op;
    const AstNode *node;
    AstNodes *nodes;
    AstArgs *args;
    AstParams *params;
    AstWithItems *with_items;
    AstImports *imports;
    AstClauses *clauses;
    AstChain *chain;
    AstDict *dict;
    AstText *literal;
    const FormatText *format;
}

%token END 0 "the end of the text"
%token NEWLINE "the end of the line"
%token INDENT "an indented block"
%token DEDENT "the end of the block"
%token <text> NAME "a name"
%token <integer> INT "an integer"
%token <real> FLOAT "a number"
%token <text> STRING "a string"
%token <format> FORMAT "a formatted string"
%token RESERVED "a reserved word"
%token FALSE "'False'" NONE "'None'" TRUE "'True'" AND "'and'" AS "'as'" ASSERT "'assert'" BREAK "'break'" CLASS "'class'" CONTINUE "'continue'"
%token DEF "'def'" DEL "'del'" ELIF "'elif'" ELSE "'else'" FOR "'for'" FROM "'from'" IF "'if'" IMPORT "'import'" IN "'in'" IS "'is'" LAMBDA "'lambda'"
%token NOT "'not'" OR "'or'" PASS "'pass'" RETURN "'return'" WHILE "'while'" WITH "'with'"
%token EXCEPT "'except'" FINALLY "'finally'" GLOBAL "'global'" NONLOCAL "'nonlocal'" RAISE "'raise'" TRY "'try'"
%token POWER "'**'" FLOORDIV "'//'" SHIFT_LEFT "'<<'" SHIFT_RIGHT "'>>'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='" ARROW "'->'" WALRUS "':='"
%token ELLIPSIS "'...'" ADD_ASSIGN "'+='" SUB_ASSIGN "'-='" MUL_ASSIGN "'*='" DIV_ASSIGN "'/='" FLOORDIV_ASSIGN "'//='" MOD_ASSIGN "'%='"
%token POWER_ASSIGN "'**='" MATMUL_ASSIGN "'@='" SHIFT_LEFT_ASSIGN "'<<='" SHIFT_RIGHT_ASSIGN "'>>='" BIT_AND_ASSIGN "'&='" BIT_OR_ASSIGN "'|='"
%token BIT_XOR_ASSIGN "'^='"

/* A block under a broken header belongs to it. */
%precedence LONE_ERROR
%precedence INDENT

%type <node> statement simple compound definition
%type <node> expressions expression or_test and_test not_test comparison bit_or bit_xor bit_and shift sum term factor power primary atom
%type <node> condition named handler inside item element argument subscript subscript_item targets target
%type <node> optional_value optional_annotation optional_returns optional_message optional_bound
%type <nodes> handlers only_else optional_finally names statements simple_list suite elements items or_chain and_chain assign_chain decorators optional_else target_items subscript_items conditions bases
%type <args> arguments argument_items
%type <params> parameters parameter_items lambda_parameters lambda_parameter_items
%type <with_items> with_items
%type <imports> import_modules import_names
%type <clauses> clauses
%type <chain> compare_chain
%type <dict> dict_items
%type <literal> strings
%type <text> dotted_name optional_alias
%type <op> compare_operator assign_operator

%code {
#include "support/bug.h"

#define YYLLOC_DEFAULT(current, right, count)                                                                                                \
    ((current) = (count) ? span_join(YYRHSLOC(right, 1), YYRHSLOC(right, count))                                                             \
                         : (Span){YYRHSLOC(right, 0).file, YYRHSLOC(right, 0).end, YYRHSLOC(right, 0).end})
#define YYMALLOC xmalloc

static int tir_lex(TIR_STYPE *value, Span *span, Parse *parse)
{
    return token_stream_next(parse->tokens, value, span);
}

static void tir_error(Span *span, Parse *parse, const char *message);
static void report_indentation(Parse *parse, Span span);
}

%%

file
    : statements                        { parse->file = ast_file(parse, $1, @1); }
    ;

/* ---- statements ---- */

statements
    : %empty                            { $$ = ast_nodes_empty(parse); }
    | statements statement              { $$ = $2 ? ast_nodes_add(parse, $1, $2) : $1; }
    | statements simple_list NEWLINE    { $$ = ast_nodes_join(parse, $1, $2); }
    | statements simple_list ';' NEWLINE { $$ = ast_nodes_join(parse, $1, $2); }
    ;

statement
    : compound
    | INDENT statements DEDENT          { syntax_error_indentation(parse, @1); $$ = NULL; }
    | error NEWLINE %prec LONE_ERROR    { yyerrok; $$ = NULL; }
    | error NEWLINE INDENT statements DEDENT { yyerrok; $$ = NULL; }
    ;

simple_list
    : simple                            { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | simple_list ';' simple            { $$ = ast_nodes_add(parse, $1, $3); }
    ;

simple
    : expressions                       { $$ = ast_wrap(parse, AST_EXPR_STMT, $1, @$); }
    | assign_chain                      { $$ = ast_assign(parse, $1, @$); }
    | expression ':' expression         { $$ = ast_ann_assign(parse, $1, $3, NULL, @$); }
    | expression ':' expression '=' expressions { $$ = ast_ann_assign(parse, $1, $3, $5, @$); }
    | expression assign_operator expressions { $$ = ast_aug_assign(parse, $2, $1, $3, @$); }
    | RETURN                            { $$ = ast_wrap(parse, AST_RETURN, NULL, @$); }
    | RETURN expressions                { $$ = ast_wrap(parse, AST_RETURN, $2, @$); }
    | PASS                              { $$ = ast_leaf(parse, AST_PASS, @$); }
    | BREAK                             { $$ = ast_leaf(parse, AST_BREAK, @$); }
    | CONTINUE                          { $$ = ast_leaf(parse, AST_CONTINUE, @$); }
    | DEL target                        { $$ = ast_delete(parse, ast_nodes_add(parse, ast_nodes_empty(parse), $2), @$); }
    | DEL target_items ','              { $$ = ast_delete(parse, $2, @$); }
    | DEL target_items ',' target       { $$ = ast_delete(parse, ast_nodes_add(parse, $2, $4), @$); }
    | RAISE                             { $$ = ast_wrap(parse, AST_RAISE, NULL, @$); }
    | RAISE expression                  { $$ = ast_wrap(parse, AST_RAISE, $2, @$); }
    | RAISE expression FROM expression  { $$ = ast_wrap(parse, AST_RAISE, $2, @$); }
    | GLOBAL names                      { $$ = ast_list(parse, AST_GLOBAL, $2, @$); }
    | NONLOCAL names                    { $$ = ast_list(parse, AST_NONLOCAL, $2, @$); }
    | ASSERT expression optional_message { $$ = ast_assert(parse, $2, $3, @$); }
    | IMPORT import_modules             { $$ = ast_import(parse, $2, @$); }
    | FROM dotted_name IMPORT import_names { $$ = ast_import_from(parse, $2, $4, @$); }
    | FROM dotted_name IMPORT '(' import_names ')' { $$ = ast_import_from(parse, $2, $5, @$); }
    | FROM dotted_name IMPORT '(' import_names ',' ')' { $$ = ast_import_from(parse, $2, $5, @$); }
    | FROM dotted_name IMPORT '*'       { $$ = ast_import_from(parse, $2, ast_imports_add(parse, NULL, NULL, context_intern(parse->ctx, "*"), NULL, @4), @$); }
    ;

names
    : NAME                              { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), ast_name(parse, $1, @1)); }
    | names ',' NAME                    { $$ = ast_nodes_add(parse, $1, ast_name(parse, $3, @3)); }
    ;

assign_chain
    : expressions '=' expressions       { $$ = ast_nodes_add(parse, ast_nodes_add(parse, ast_nodes_empty(parse), $1), $3); }
    | assign_chain '=' expressions      { $$ = ast_nodes_add(parse, $1, $3); }
    ;

assign_operator
    : ADD_ASSIGN                        { $$ = AST_OP_ADD; }
    | SUB_ASSIGN                        { $$ = AST_OP_SUB; }
    | MUL_ASSIGN                        { $$ = AST_OP_MUL; }
    | DIV_ASSIGN                        { $$ = AST_OP_DIV; }
    | FLOORDIV_ASSIGN                   { $$ = AST_OP_FLOORDIV; }
    | MOD_ASSIGN                        { $$ = AST_OP_MOD; }
    | POWER_ASSIGN                      { $$ = AST_OP_POWER; }
    | MATMUL_ASSIGN                     { $$ = AST_OP_MATMUL; }
    | SHIFT_LEFT_ASSIGN                 { $$ = AST_OP_SHIFT_LEFT; }
    | SHIFT_RIGHT_ASSIGN                { $$ = AST_OP_SHIFT_RIGHT; }
    | BIT_AND_ASSIGN                    { $$ = AST_OP_BIT_AND; }
    | BIT_OR_ASSIGN                     { $$ = AST_OP_BIT_OR; }
    | BIT_XOR_ASSIGN                    { $$ = AST_OP_BIT_XOR; }
    ;

optional_message
    : %empty                            { $$ = NULL; }
    | ',' expression                    { $$ = $2; }
    ;

import_modules
    : dotted_name optional_alias        { $$ = ast_imports_add(parse, NULL, $1, NULL, $2, @$); }
    | import_modules ',' dotted_name optional_alias { $$ = ast_imports_add(parse, $1, $3, NULL, $4, span_join(@3, @4)); }
    ;

import_names
    : NAME optional_alias               { $$ = ast_imports_add(parse, NULL, NULL, $1, $2, @$); }
    | import_names ',' NAME optional_alias { $$ = ast_imports_add(parse, $1, NULL, $3, $4, span_join(@3, @4)); }
    ;

dotted_name
    : NAME
    | dotted_name '.' NAME              { $$ = context_internf(parse->ctx, "%s.%s", $1, $3); }
    ;

optional_alias
    : %empty                            { $$ = NULL; }
    | AS NAME                           { $$ = $2; }
    ;

compound
    : FOR targets IN expressions ':' suite optional_else { $$ = ast_for(parse, $2, $4, $6, $7, span_join(@1, @5)); }
    | WHILE condition ':' suite optional_else { $$ = ast_while(parse, $2, $4, $5, span_join(@1, @3)); }
    | IF condition ':' suite optional_else { $$ = ast_if(parse, $2, $4, $5, span_join(@1, @3)); }
    | TRY ':' suite handlers only_else optional_finally { $$ = ast_try(parse, $3, $4, $5, $6, span_join(@1, @2)); }
    | TRY ':' suite FINALLY ':' suite   { $$ = ast_try(parse, $3, NULL, NULL, $6, span_join(@1, @2)); }
    | WITH with_items ':' suite         { $$ = ast_with(parse, $2, $4, span_join(@1, @3)); }
    | definition
    | decorators definition             { $$ = ast_decorate(parse, $2, $1); }
    ;

definition
    : DEF NAME '(' parameters ')' optional_returns ':' suite { $$ = ast_def(parse, $2, @2, $4, $6, $8, span_join(@1, @7)); }
    | CLASS NAME ':' suite              { $$ = ast_class(parse, $2, @2, NULL, $4, span_join(@1, @3)); }
    | CLASS NAME '(' bases ')' ':' suite { $$ = ast_class(parse, $2, @2, $4, $7, span_join(@1, @6)); }
    ;

decorators
    : '@' expression NEWLINE            { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $2); }
    | decorators '@' expression NEWLINE { $$ = ast_nodes_add(parse, $1, $3); }
    ;

bases
    : %empty                            { $$ = ast_nodes_empty(parse); }
    | elements
    | elements ','
    ;

suite
    : simple_list NEWLINE
    | simple_list ';' NEWLINE
    | NEWLINE INDENT statements DEDENT  { $$ = $3; }
    ;

optional_else
    : %empty                            { $$ = NULL; }
    | ELSE ':' suite                    { $$ = $3; }
    | ELIF condition ':' suite optional_else {
          $$ = ast_nodes_add(parse, ast_nodes_empty(parse), ast_if(parse, $2, $4, $5, span_join(@1, @3)));
      }
    ;

only_else
    : %empty                            { $$ = NULL; }
    | ELSE ':' suite                    { $$ = $3; }
    ;

optional_finally
    : %empty                            { $$ = NULL; }
    | FINALLY ':' suite                 { $$ = $3; }
    ;

handlers
    : handler                           { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | handlers handler                  { $$ = ast_nodes_add(parse, $1, $2); }
    ;

handler
    : EXCEPT ':' suite                  { $$ = ast_except(parse, NULL, NULL, $3, span_join(@1, @2)); }
    | EXCEPT expression ':' suite       { $$ = ast_except(parse, $2, NULL, $4, span_join(@1, @3)); }
    | EXCEPT expression AS NAME ':' suite { $$ = ast_except(parse, $2, $4, $6, span_join(@1, @5)); }
    ;

condition
    : expression
    | named
    ;

named
    : NAME WALRUS expression            { $$ = ast_named(parse, $1, $3, @$); }
    ;

with_items
    : expression                        { $$ = ast_with_items_add(parse, NULL, $1, NULL); }
    | expression AS target              { $$ = ast_with_items_add(parse, NULL, $1, $3); }
    | with_items ',' expression         { $$ = ast_with_items_add(parse, $1, $3, NULL); }
    | with_items ',' expression AS target { $$ = ast_with_items_add(parse, $1, $3, $5); }
    ;

parameters
    : %empty                            { $$ = NULL; }
    | parameter_items
    | parameter_items ','
    ;

parameter_items
    : NAME optional_annotation optional_value { $$ = ast_params_add(parse, NULL, $1, 0, $2, $3, @1); }
    | '*' NAME optional_annotation      { $$ = ast_params_add(parse, NULL, $2, 1, $3, NULL, @2); }
    | '*'                               { $$ = ast_params_add(parse, NULL, NULL, 1, NULL, NULL, @1); }
    | POWER NAME optional_annotation    { $$ = ast_params_add(parse, NULL, $2, 2, $3, NULL, @2); }
    | parameter_items ',' NAME optional_annotation optional_value { $$ = ast_params_add(parse, $1, $3, 0, $4, $5, @3); }
    | parameter_items ',' '*' NAME optional_annotation { $$ = ast_params_add(parse, $1, $4, 1, $5, NULL, @4); }
    | parameter_items ',' '*'           { $$ = ast_params_add(parse, $1, NULL, 1, NULL, NULL, @3); }
    | parameter_items ',' POWER NAME optional_annotation { $$ = ast_params_add(parse, $1, $4, 2, $5, NULL, @4); }
    ;

optional_annotation
    : %empty                            { $$ = NULL; }
    | ':' expression                    { $$ = $2; }
    ;

optional_value
    : %empty                            { $$ = NULL; }
    | '=' expression                    { $$ = $2; }
    ;

optional_returns
    : %empty                            { $$ = NULL; }
    | ARROW expression                  { $$ = $2; }
    ;

/* ---- assignment targets where no comparison may stand ---- */

targets
    : target
    | target_items ','                  { $$ = ast_list(parse, AST_TUPLE, $1, @$); }
    | target_items ',' target           { $$ = ast_list(parse, AST_TUPLE, ast_nodes_add(parse, $1, $3), @$); }
    ;

target_items
    : target                            { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | target_items ',' target           { $$ = ast_nodes_add(parse, $1, $3); }
    ;

target
    : primary                           { ast_check_target(parse, $1); }
    | '*' primary                       { $$ = ast_wrap(parse, AST_STARRED, $2, @$); ast_check_target(parse, $2); }
    ;

/* ---- expressions ---- */

expressions
    : element
    | elements ','                      { $$ = ast_list(parse, AST_TUPLE, $1, @$); }
    | elements ',' element              { $$ = ast_list(parse, AST_TUPLE, ast_nodes_add(parse, $1, $3), @$); }
    ;

elements
    : element                           { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | elements ',' element              { $$ = ast_nodes_add(parse, $1, $3); }
    ;

element
    : expression
    | '*' bit_or                        { $$ = ast_wrap(parse, AST_STARRED, $2, @$); }
    ;

/* ---- the same in brackets, where ':=' may stand ---- */

inside
    : item
    | items ','                         { $$ = ast_list(parse, AST_TUPLE, $1, @$); }
    | items ',' item                    { $$ = ast_list(parse, AST_TUPLE, ast_nodes_add(parse, $1, $3), @$); }
    ;

items
    : item                              { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | items ',' item                    { $$ = ast_nodes_add(parse, $1, $3); }
    ;

item
    : condition
    | '*' bit_or                        { $$ = ast_wrap(parse, AST_STARRED, $2, @$); }
    ;

expression
    : or_test
    | or_test IF or_test ELSE expression { $$ = ast_conditional(parse, $3, $1, $5, @$); }
    | LAMBDA lambda_parameters ':' expression { $$ = ast_lambda(parse, $2, $4, @$); }
    ;

lambda_parameters
    : %empty                            { $$ = NULL; }
    | lambda_parameter_items
    | lambda_parameter_items ','
    ;

lambda_parameter_items
    : NAME optional_value               { $$ = ast_params_add(parse, NULL, $1, 0, NULL, $2, @1); }
    | '*' NAME                          { $$ = ast_params_add(parse, NULL, $2, 1, NULL, NULL, @2); }
    | '*'                               { $$ = ast_params_add(parse, NULL, NULL, 1, NULL, NULL, @1); }
    | POWER NAME                        { $$ = ast_params_add(parse, NULL, $2, 2, NULL, NULL, @2); }
    | lambda_parameter_items ',' NAME optional_value { $$ = ast_params_add(parse, $1, $3, 0, NULL, $4, @3); }
    | lambda_parameter_items ',' '*' NAME { $$ = ast_params_add(parse, $1, $4, 1, NULL, NULL, @4); }
    | lambda_parameter_items ',' '*'    { $$ = ast_params_add(parse, $1, NULL, 1, NULL, NULL, @3); }
    | lambda_parameter_items ',' POWER NAME { $$ = ast_params_add(parse, $1, $4, 2, NULL, NULL, @4); }
    ;

or_test
    : and_test
    | or_chain                          { $$ = ast_bool_op(parse, AST_OP_OR, $1, @$); }
    ;

or_chain
    : and_test OR and_test              { $$ = ast_nodes_add(parse, ast_nodes_add(parse, ast_nodes_empty(parse), $1), $3); }
    | or_chain OR and_test              { $$ = ast_nodes_add(parse, $1, $3); }
    ;

and_test
    : not_test
    | and_chain                         { $$ = ast_bool_op(parse, AST_OP_AND, $1, @$); }
    ;

and_chain
    : not_test AND not_test             { $$ = ast_nodes_add(parse, ast_nodes_add(parse, ast_nodes_empty(parse), $1), $3); }
    | and_chain AND not_test            { $$ = ast_nodes_add(parse, $1, $3); }
    ;

not_test
    : comparison
    | NOT not_test                      { $$ = ast_unary(parse, AST_OP_NOT, $2, @$); }
    ;

comparison
    : bit_or
    | compare_chain                     { $$ = ast_compare(parse, $1, @$); }
    ;

compare_chain
    : bit_or compare_operator bit_or    { $$ = ast_chain_add(parse, ast_chain_start(parse, $1), $2, $3); }
    | compare_chain compare_operator bit_or { $$ = ast_chain_add(parse, $1, $2, $3); }
    ;

compare_operator
    : EQ                                { $$ = AST_OP_EQ; }
    | NE                                { $$ = AST_OP_NE; }
    | '<'                               { $$ = AST_OP_LT; }
    | LE                                { $$ = AST_OP_LE; }
    | '>'                               { $$ = AST_OP_GT; }
    | GE                                { $$ = AST_OP_GE; }
    | IN                                { $$ = AST_OP_IN; }
    | NOT IN                            { $$ = AST_OP_NOT_IN; }
    | IS                                { $$ = AST_OP_IS; }
    | IS NOT                            { $$ = AST_OP_IS_NOT; }
    ;

bit_or
    : bit_xor
    | bit_or '|' bit_xor                { $$ = ast_binary(parse, AST_OP_BIT_OR, $1, $3, @$); }
    ;

bit_xor
    : bit_and
    | bit_xor '^' bit_and               { $$ = ast_binary(parse, AST_OP_BIT_XOR, $1, $3, @$); }
    ;

bit_and
    : shift
    | bit_and '&' shift                 { $$ = ast_binary(parse, AST_OP_BIT_AND, $1, $3, @$); }
    ;

shift
    : sum
    | shift SHIFT_LEFT sum              { $$ = ast_binary(parse, AST_OP_SHIFT_LEFT, $1, $3, @$); }
    | shift SHIFT_RIGHT sum             { $$ = ast_binary(parse, AST_OP_SHIFT_RIGHT, $1, $3, @$); }
    ;

sum
    : term
    | sum '+' term                      { $$ = ast_binary(parse, AST_OP_ADD, $1, $3, @$); }
    | sum '-' term                      { $$ = ast_binary(parse, AST_OP_SUB, $1, $3, @$); }
    ;

term
    : factor
    | term '*' factor                   { $$ = ast_binary(parse, AST_OP_MUL, $1, $3, @$); }
    | term '/' factor                   { $$ = ast_binary(parse, AST_OP_DIV, $1, $3, @$); }
    | term FLOORDIV factor              { $$ = ast_binary(parse, AST_OP_FLOORDIV, $1, $3, @$); }
    | term '%' factor                   { $$ = ast_binary(parse, AST_OP_MOD, $1, $3, @$); }
    | term '@' factor                   { $$ = ast_binary(parse, AST_OP_MATMUL, $1, $3, @$); }
    ;

factor
    : power
    | '+' factor                        { $$ = ast_unary(parse, AST_OP_POSITIVE, $2, @$); }
    | '-' factor                        { $$ = ast_unary(parse, AST_OP_NEGATIVE, $2, @$); }
    | '~' factor                        { $$ = ast_unary(parse, AST_OP_INVERT, $2, @$); }
    ;

power
    : primary
    | primary POWER factor              { $$ = ast_binary(parse, AST_OP_POWER, $1, $3, @$); }
    ;

primary
    : atom
    | primary '.' NAME                  { $$ = ast_attribute(parse, $1, $3, @3, @$); }
    | primary '(' arguments ')'         { $$ = ast_call(parse, $1, $3, @$); }
    | primary '[' subscript ']'         { $$ = ast_subscript(parse, $1, $3, @$); }
    ;

atom
    : NAME                              { $$ = ast_name(parse, $1, @$); }
    | INT                               { $$ = ast_int(parse, $1, @$); }
    | FLOAT                             { $$ = ast_float(parse, $1, @$); }
    | strings                           { $$ = ast_string(parse, $1, @$); }
    | TRUE                              { $$ = ast_bool(parse, true, @$); }
    | FALSE                             { $$ = ast_bool(parse, false, @$); }
    | NONE                              { $$ = ast_leaf(parse, AST_NONE, @$); }
    | ELLIPSIS                          { $$ = ast_leaf(parse, AST_ELLIPSIS, @$); }
    | '(' ')'                           { $$ = ast_list(parse, AST_TUPLE, NULL, @$); }
    | '(' inside ')'                    { $$ = $2; }
    | '(' condition clauses ')'         { $$ = ast_generator(parse, $2, $3, @$); }
    | '[' ']'                           { $$ = ast_list(parse, AST_LIST, NULL, @$); }
    | '[' items ']'                     { $$ = ast_list(parse, AST_LIST, $2, @$); }
    | '[' items ',' ']'                 { $$ = ast_list(parse, AST_LIST, $2, @$); }
    | '[' condition clauses ']'         { $$ = ast_comprehension(parse, $2, $3, @$); }
    | '{' '}'                           { $$ = ast_dict(parse, NULL, @$); }
    | '{' dict_items '}'                { $$ = ast_dict(parse, $2, @$); }
    | '{' dict_items ',' '}'            { $$ = ast_dict(parse, $2, @$); }
    | '{' expression ':' expression clauses '}' { $$ = ast_dict_comprehension(parse, $2, $4, $5, @$); }
    | '{' condition clauses '}'         { $$ = ast_set_comprehension(parse, $2, $3, @$); }
    | '{' items '}'                     { $$ = ast_list(parse, AST_SET, $2, @$); }
    | '{' items ',' '}'                 { $$ = ast_list(parse, AST_SET, $2, @$); }
    ;

strings
    : STRING                            { $$ = ast_text_add(parse, NULL, $1); }
    | FORMAT                            { $$ = ast_format_add(parse, NULL, $1); }
    | strings STRING                    { $$ = ast_text_add(parse, $1, $2); }
    | strings FORMAT                    { $$ = ast_format_add(parse, $1, $2); }
    ;

dict_items
    : expression ':' expression         { $$ = ast_dict_add(parse, NULL, $1, $3); }
    | POWER bit_or                      { $$ = ast_dict_add(parse, NULL, NULL, $2); }
    | dict_items ',' expression ':' expression { $$ = ast_dict_add(parse, $1, $3, $5); }
    | dict_items ',' POWER bit_or       { $$ = ast_dict_add(parse, $1, NULL, $4); }
    ;

clauses
    : FOR targets IN or_test conditions { $$ = ast_clauses_add(parse, NULL, $2, $4, $5); }
    | clauses FOR targets IN or_test conditions { $$ = ast_clauses_add(parse, $1, $3, $5, $6); }
    ;

conditions
    : %empty                            { $$ = ast_nodes_empty(parse); }
    | conditions IF or_test             { $$ = ast_nodes_add(parse, $1, $3); }
    ;

arguments
    : %empty                            { $$ = NULL; }
    | argument_items
    | argument_items ','
    | condition clauses                 { $$ = ast_args_add(parse, NULL, ast_generator(parse, $1, $2, @$)); }
    ;

argument_items
    : argument                          { $$ = ast_args_add(parse, NULL, $1); }
    | NAME '=' expression               { $$ = ast_args_add_keyword(parse, NULL, $1, $3, @$); }
    | POWER expression                  { $$ = ast_args_add_keyword(parse, NULL, NULL, $2, @$); }
    | argument_items ',' argument       { $$ = ast_args_add(parse, $1, $3); }
    | argument_items ',' NAME '=' expression { $$ = ast_args_add_keyword(parse, $1, $3, $5, span_join(@3, @5)); }
    | argument_items ',' POWER expression { $$ = ast_args_add_keyword(parse, $1, NULL, $4, span_join(@3, @4)); }
    ;

argument
    : condition
    | '*' expression                    { $$ = ast_wrap(parse, AST_STARRED, $2, @$); }
    ;

subscript
    : subscript_item
    | subscript_items ','               { $$ = ast_list(parse, AST_TUPLE, $1, @$); }
    | subscript_items ',' subscript_item { $$ = ast_list(parse, AST_TUPLE, ast_nodes_add(parse, $1, $3), @$); }
    ;

subscript_items
    : subscript_item                    { $$ = ast_nodes_add(parse, ast_nodes_empty(parse), $1); }
    | subscript_items ',' subscript_item { $$ = ast_nodes_add(parse, $1, $3); }
    ;

subscript_item
    : item
    | optional_bound ':' optional_bound { $$ = ast_slice(parse, $1, $3, NULL, @$); }
    | optional_bound ':' optional_bound ':' optional_bound { $$ = ast_slice(parse, $1, $3, $5, @$); }
    ;

optional_bound
    : %empty                            { $$ = NULL; }
    | expression
    ;

%%

/* Only out of memory for the parse stack comes here: too many unfinished constructs. */
static void tir_error(Span *span, Parse *parse, const char *message)
{
    (void)message;
    diag_error(parse->ctx, *span, "the text is nested too deeply");
}

static int yyreport_syntax_error(const yypcontext_t *at, Parse *parse)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int count = yypcontext_expected_tokens(at, kinds, YYNTOKENS);
    for (int i = 0; i < count; i++)
        names[i] = yysymbol_name(kinds[i]);
    SyntaxError error = {yysymbol_name(yypcontext_token(at)), *yypcontext_location(at), names, count};
    syntax_error_report(parse, &error);
    return 0;
}
