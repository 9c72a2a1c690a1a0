#pragma once

#include <sqlite3.h>

// A cast of -1 to a function pointer, which Swift does not import. It asks SQLite to copy what is bound.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

// Variadic, so out of reach from Swift. Closing the connection copies no log and removes no file.
static inline int csqlite_leave_log_at_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Variadic, so out of reach from Swift. Ordinary SQL cannot corrupt the file then, whatever a damaged schema says.
static inline int csqlite_set_defensive(sqlite3 *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
