
/*
 * store postgres "<connection string or URI>" <options>
 *
 * store odbc "<connection string>" <options>
 *
 * Options: [password_file=<file>] [pool=<n>] [query_timeout=<time>]
 * [login_timeout=<time>] [retry=<time>]
 *
 * The master reads the password with the configuration, and no message has it.
 * A password in the connection string is refused, because "nginx -T" would
 * show it.
 */

#include "ngx_http_submission_directives.h"


#define NGX_HTTP_SUBMISSION_PASSWORD_MAX  1024


static ngx_int_t
ngx_http_submission_server_read(ngx_conf_t *cf, ngx_str_t *name, ngx_fd_t fd,
    ngx_str_t *password)
{
    u_char           *p;
    ssize_t           n;
    const char       *why;
    ngx_file_info_t   fi;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_fd_info_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    why = NULL;

    if (!ngx_is_file(&fi)) {
        why = "is not a file";

    } else if (fi.st_mode & S_IROTH) {
        why = "can be read by everybody: mode 0600 or 0640 was expected";

    } else if (ngx_file_size(&fi) > NGX_HTTP_SUBMISSION_PASSWORD_MAX) {
        why = "is too long: one line was expected";
    }

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "password_file \"%V\" %s", name, why);
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, NGX_HTTP_SUBMISSION_PASSWORD_MAX + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    n = ngx_read_fd(fd, p, NGX_HTTP_SUBMISSION_PASSWORD_MAX);

    if (n == -1) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_read_fd_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    if (n && p[n - 1] == LF) {
        n--;
    }

    if (n && p[n - 1] == CR) {
        n--;
    }

    if (n == 0 || memchr(p, LF, n) || memchr(p, '\0', n)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "password_file \"%V\" has %s: one line with the "
                           "password was expected", name,
                           n ? "several lines" : "nothing in it");
        return NGX_ERROR;
    }

    p[n] = '\0';

    password->data = p;
    password->len = n;

    return NGX_OK;
}


static ngx_int_t
ngx_http_submission_server_password(ngx_conf_t *cf, ngx_str_t *name,
    ngx_str_t *password)
{
    ngx_fd_t   fd;
    ngx_int_t  rc;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    fd = ngx_open_file(name->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                       NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "password_file \"%V\" cannot be opened", name);
        return NGX_ERROR;
    }

    rc = ngx_http_submission_server_read(cf, name, fd, password);

    if (ngx_close_file(fd) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_ALERT, cf, ngx_errno,
                           ngx_close_file_n " \"%V\" failed", name);
    }

    return rc;
}


/* Takes "password_file" out of the arguments: it is not a number. */

static ngx_int_t
ngx_http_submission_server_option(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    ngx_str_t   *value, name;
    ngx_uint_t   i, n;

    static ngx_str_t  key = ngx_string("password_file=");

    value = cf->args->elts;

    for (i = 3, n = 3; i < cf->args->nelts; i++) {

        if (value[i].len <= key.len
            || ngx_strncmp(value[i].data, key.data, key.len) != 0)
        {
            value[n++] = value[i];
            continue;
        }

        if (mcf->password.data) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate parameter \"password_file\" in "
                               "\"store\"");
            return NGX_ERROR;
        }

        name.data = value[i].data + key.len;
        name.len = value[i].len - key.len;

        if (ngx_http_submission_server_password(cf, &name, &mcf->password)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    cf->args->nelts = n;

    return NGX_OK;
}


/* Reads the options that both stores have. */

static char *
ngx_http_submission_server(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf, const sm_store_ops_t *ops)
{
    char                          *rv;
    ngx_int_t                      pool, query_timeout, login_timeout, retry,
                                   unused;
    ngx_str_t                     *value;
    ngx_http_submission_option_t   options[] = {
        { "pool", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 1000,
          "a number between 1 and 1000", &pool },
        { "query_timeout", NGX_HTTP_SUBMISSION_OPT_MSEC, 1000, 600000,
          "a time between 1s and 10m", &query_timeout },
        { "login_timeout", NGX_HTTP_SUBMISSION_OPT_MSEC, 1000, 600000,
          "a time between 1s and 10m", &login_timeout },
        { "retry", NGX_HTTP_SUBMISSION_OPT_MSEC, 0, 60000,
          "a time up to 1m", &retry },
        { "password_file", NGX_HTTP_SUBMISSION_OPT_NUMBER, 1, 0,
          "a file", &unused },
        { NULL, 0, 0, 0, NULL, NULL }
    };

    if (ngx_http_submission_server_option(cf, mcf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    pool = 8;
    query_timeout = 5000;
    login_timeout = 5000;
    retry = 3000;

    rv = ngx_http_submission_conf_options(cf, 3, options);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    mcf->store_ops = ops;
    mcf->connection = value[2];
    mcf->pool = pool;
    mcf->query_timeout = query_timeout;
    mcf->login_timeout = login_timeout;
    mcf->retry = retry;

    return NGX_CONF_OK;
}


char *
ngx_http_submission_server_postgres(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    char        why[256];
    ngx_str_t  *value;

    value = cf->args->elts;

    if (cf->args->nelts < 3 || value[2].len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "no connection string is given in \"store "
                           "postgres\": such as \"host=... dbname=...\" or "
                           "\"postgresql://...\" was expected");
        return NGX_CONF_ERROR;
    }

    if (sm_store_postgres_check((char *) value[2].data, why, sizeof(why))) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the connection string of \"store postgres\" "
                           "cannot be used: %s", why);
        return NGX_CONF_ERROR;
    }

    if (sm_store_postgres_exposed((char *) value[2].data, why, sizeof(why))) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"store postgres\" has no \"sslmode\": the "
                           "certificate of \"%s\" is not verified, and "
                           "nothing is encrypted if the server does not offer "
                           "it; \"sslmode=verify-full\" was expected", why);
    }

    return ngx_http_submission_server(cf, mcf, &sm_store_postgres);
}


char *
ngx_http_submission_server_odbc(ngx_conf_t *cf,
    ngx_http_submission_manager_conf_t *mcf)
{
    char        *rv;
    sm_str_t     connection, password;
    ngx_str_t   *value;
    const char  *why;

    value = cf->args->elts;

    if (cf->args->nelts < 3 || value[2].len == 0
        || ngx_strchr(value[2].data, '=') == NULL)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "no connection string is given in \"store odbc\": "
                           "such as \"Driver=FreeTDS;Server=...\" was "
                           "expected");
        return NGX_CONF_ERROR;
    }

    connection = ngx_http_submission_str(&value[2]);

    if (sm_store_odbc_has_key(connection, "PWD")
        || sm_store_odbc_has_key(connection, "Password"))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "a password is given in the connection string of "
                           "\"store odbc\": \"password_file=\" was expected");
        return NGX_CONF_ERROR;
    }

    rv = ngx_http_submission_server(cf, mcf, &sm_store_odbc);
    if (rv != NGX_CONF_OK) {
        return rv;
    }

    password = ngx_http_submission_str(&mcf->password);

    why = sm_store_odbc_refuses(connection, password);

    if (why) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the password in the \"password_file\" %s", why);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}
