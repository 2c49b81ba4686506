
/*
 * Connection strings: finds keys, recognizes the driver and adds the password.
 *
 * Drivers differ in how they quote a value.  The ODBC way is {...}, with each
 * } doubled.  FreeTDS recognizes {...} only if a ; follows, and doubles braces
 * only from version 1.4 on.  So FreeTDS gets a password as it is if it cannot
 * be confused with the next key.  Otherwise it gets it in braces, if it
 * contains no }.
 */

#include <ctype.h>
#include <strings.h>

#include "sm_store_odbc.h"


/* Returns the end of a value.  A value in braces ends at a single }. */

static size_t
sm_odbc_value_end(sm_str_t s, size_t i)
{
    if (i < s.len && s.data[i] == '{') {

        for (i++; i < s.len; i++) {

            if (s.data[i] != '}') {
                continue;
            }

            if (i + 1 < s.len && s.data[i + 1] == '}') {
                i++;
                continue;
            }

            break;
        }
    }

    while (i < s.len && s.data[i] != ';') {
        i++;
    }

    return i;
}


/* Finds a key, ignoring case, and gives its value without braces. */

static int
sm_odbc_key(sm_str_t connection, const char *key, sm_str_t *value)
{
    size_t  i, start, end, len;

    for (i = 0; i < connection.len; i++) {

        while (i < connection.len
               && (connection.data[i] == ' ' || connection.data[i] == ';'))
        {
            i++;
        }

        for (start = i; i < connection.len && connection.data[i] != '='; i++) {
            if (connection.data[i] == ';') {
                break;
            }
        }

        if (i == connection.len || connection.data[i] == ';') {
            continue;
        }

        for (len = i - start; len && connection.data[start + len - 1] == ' ';
             len--)
        {
            /* void */
        }

        for (i++; i < connection.len && connection.data[i] == ' '; i++) {
            /* void */
        }

        end = sm_odbc_value_end(connection, i);

        if (len == strlen(key)
            && strncasecmp(&connection.data[start], key, len) == 0)
        {
            if (end - i >= 2 && connection.data[i] == '{'
                && connection.data[end - 1] == '}')
            {
                i++;
                end--;
            }

            value->data = &connection.data[i];
            value->len = end - i;
            return 0;
        }

        i = end;
    }

    return -1;
}


int
sm_store_odbc_has_key(sm_str_t connection, const char *key)
{
    sm_str_t  value;

    return sm_odbc_key(connection, key, &value) == 0;
}


static int
sm_odbc_has(sm_str_t s, const char *part)
{
    size_t  i, len;

    len = strlen(part);

    for (i = 0; i + len <= s.len; i++) {
        if (strncasecmp(&s.data[i], part, len) == 0) {
            return 1;
        }
    }

    return 0;
}


sm_odbc_driver_e
sm_odbc_driver_of(sm_str_t connection)
{
    sm_str_t  name;

    if (sm_odbc_key(connection, "Driver", &name) != 0) {
        return SM_ODBC_DRIVER_OTHER;
    }

    if (sm_odbc_has(name, "tds")) {
        return SM_ODBC_DRIVER_FREETDS;
    }

    if (sm_odbc_has(name, "SQL Server") || sm_odbc_has(name, "msodbcsql")) {
        return SM_ODBC_DRIVER_MICROSOFT;
    }

    return SM_ODBC_DRIVER_OTHER;
}


/* Returns whether FreeTDS takes the password without braces. */

static int
sm_odbc_plain(sm_str_t password)
{
    return password.len && password.data[0] != '{'
           && memchr(password.data, ';', password.len) == NULL;
}


const char *
sm_store_odbc_refuses(sm_str_t connection, sm_str_t password)
{
    size_t  i;

    /*
     * Drivers convert the password by the locale, which is "C" in an nginx
     * worker, so only ASCII is safe.
     */

    for (i = 0; i < password.len; i++) {
        if ((unsigned char) password.data[i] >= 0x80) {
            return "has a character that is not ASCII, which drivers do not "
                   "take: another password was expected";
        }
    }

    if (password.len == 0 || memchr(password.data, '}', password.len) == NULL) {
        return NULL;
    }

    switch (sm_odbc_driver_of(connection)) {

    case SM_ODBC_DRIVER_FREETDS:
        return sm_odbc_plain(password)
               ? NULL
               : "has both a \"}\" and a \";\", or begins with a \"{\" and "
                 "has a \"}\", which FreeTDS cannot be given: another "
                 "password was expected";

    case SM_ODBC_DRIVER_OTHER:
        return "has a \"}\", which not all drivers take in the same way: "
               "\"Driver=\" in the connection string, with \"FreeTDS\" or "
               "\"SQL Server\" in its name, or another password was "
               "expected";

    default:
        return NULL;
    }
}


SQLCHAR *
sm_odbc_string(sm_arena_t *arena, const sm_store_conf_t *conf)
{
    char            *p;
    size_t           i;
    unsigned         freetds;
    sm_out_t         out;
    const sm_str_t  *password;

    password = &conf->password;

    i = conf->connection.len + 2 * password->len + sizeof(";PWD={};");
    p = sm_arena_alloc(arena, i);

    if (p == NULL) {
        return NULL;
    }

    sm_out_init(&out, p, i - 1);
    sm_out_str(&out, conf->connection);

    freetds = sm_odbc_driver_of(conf->connection) == SM_ODBC_DRIVER_FREETDS;

    if (password->data && freetds && sm_odbc_plain(*password)) {
        sm_out_c(&out, ";PWD=");
        sm_out_str(&out, *password);
        sm_out_c(&out, ";");

    } else if (password->data) {
        sm_out_c(&out, ";PWD={");

        for (i = 0; i < password->len; i++) {
            sm_out_bytes(&out, &password->data[i], 1);

            if (password->data[i] == '}') {
                sm_out_c(&out, "}");
            }
        }

        sm_out_c(&out, "};");
    }

    *out.last = '\0';

    return (SQLCHAR *) p;
}
