/* The data of a run: what --in, --expect, --out and --print name. A buffer is named by its parameter's or its own name. Files are NumPy's
   .npy, or PATH:MEMBER for an array of an .npz archive; "\:" stands for a colon in a path. */
#ifndef TIRC_DRIVER_DATA_H
#define TIRC_DRIVER_DATA_H

#include "driver/driver.h"
#include "interp/argdata.h"
#include "interp/npy.h"

/* A file of arrays, or an array in one. */
typedef struct {
    const char *path, *member; /* MEMBER is NULL where only a path is given */
} DataPlace;

/* Reads PATH[:MEMBER]. */
DataPlace data_place(Driver *driver, const char *text);
/* The array at PLACE, whose name in messages is TEXT. Where no member is given, that of an archive is the one called NAME, else the only one.
   False after a diagnostic. */
bool data_read(Driver *driver, const char *text, const char *name, NpyArray *array);
/* Splits NAME=REST, a word of OPTION; false after a diagnostic. */
bool data_split(Driver *driver, const char *option, const char *word, const char **name, const char **rest);
/* The buffer of FUNC that NAME, a word of OPTION, names; negative after a diagnostic. */
int data_find_buffer(Driver *driver, const char *option, const Func *func, const char *name);

/* Every name of --in is that of one parameter or size of a function of MODULE that would run, those of the other options are buffers. False
   after a diagnostic. */
bool data_check_names(Driver *driver, const Module *module);
/* Adds what --in gives to FUNC to OPTIONS; false after a diagnostic. */
bool data_add_inputs(Driver *driver, const Func *func, ArgOptions *options);
/* After FUNC ran on DATA: prints what --print names, writes what --out names, compares what --expect names. False after a diagnostic. */
bool data_finish(Driver *driver, const Func *func, const ArgData *data);

/* --- parts of data_finish --- */
bool data_print(Driver *driver, const Func *func, const ArgData *data);
bool data_write(Driver *driver, const Func *func, const ArgData *data);
bool data_expect(Driver *driver, const Func *func, const ArgData *data);

#endif
