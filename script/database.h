/* Databases of tuned programs, as TVM's JSONDatabase writes them, read as schedules: database_workload.json has a program on each line,
   database_tuning_record.json a trace with the times that it took. */
#ifndef TIRC_SCRIPT_DATABASE_H
#define TIRC_SCRIPT_DATABASE_H

#include "ir/stmt.h"

typedef struct {
    const char *name, *text; /* of a file */
    size_t length;
} DatabaseFile;

/* The script that makes the steps of the fastest record of each function of MODULE. A record is one of the function where its workload has the
   same function but for names of functions and variables, and attributes. NULL after a diagnostic: a file is damaged, or no
   function has a record. *PLACE: the name and line of the first record that is used. */
const char *script_of_database(Context *ctx, const Module *module, DatabaseFile workloads, DatabaseFile records, const char **place);

#endif
