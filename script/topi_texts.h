/* The texts of the packages of operators, made from the files below topi/ at build time. */
#ifndef TIRC_SCRIPT_TOPI_TEXTS_H
#define TIRC_SCRIPT_TOPI_TEXTS_H

typedef struct {
    const char *package, *name, *text; /* "topi.nn", "topi/nn-conv.te", ... */
} TopiText;
/* Ended by a row without a package. */
extern const TopiText topi_texts[];

#endif
