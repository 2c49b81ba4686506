
/*
 * Answers of all sizes over TLS, from a server that sends records of 16 KB, as
 * PostgreSQL 17 does: an older server sends 8 KB at most, so a proxy in this
 * program speaks TLS for it.  libpq leaves a part of such a record in OpenSSL,
 * and the socket has nothing more to say.  Broken by: a wait for a socket while
 * OpenSSL has bytes.
 */

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <openssl/ssl.h>

#include "store.h"
#include "sm_store_postgres.h"


#define RECORD     16384
#define COLLECT_MS     4            /* no more of an answer comes after that */


typedef struct {
    int       fd;                   /* the client's */
    int       port;                 /* the server's */
    SSL_CTX  *ctx;
} link_t;


static SSL_CTX *
tls_context(void)
{
    X509      *cert;
    SSL_CTX   *ctx;
    EVP_PKEY  *key;

    key = EVP_RSA_gen(2048);
    cert = X509_new();
    ctx = SSL_CTX_new(TLS_server_method());
    must(key && cert && ctx);

    must(X509_gmtime_adj(X509_getm_notBefore(cert), -60) != NULL);
    must(X509_gmtime_adj(X509_getm_notAfter(cert), 3600) != NULL);
    must(X509_set_pubkey(cert, key) == 1);
    must(X509_sign(cert, key, EVP_sha256()) != 0);

    must(SSL_CTX_use_certificate(ctx, cert) == 1);
    must(SSL_CTX_use_PrivateKey(ctx, key) == 1);

    X509_free(cert);
    EVP_PKEY_free(key);

    return ctx;
}


static int
loopback(int port, int (*act)(int, const struct sockaddr *, socklen_t))
{
    int                 fd, on;
    struct sockaddr_in  sin;

    memset(&sin, 0, sizeof(sin));
    sin.sin_family = AF_INET;
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sin.sin_port = htons(port);

    fd = socket(AF_INET, SOCK_STREAM, 0);
    must(fd != -1);

    /* accepted sockets inherit it */

    on = 1;
    must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0);
    must(act(fd, (struct sockaddr *) &sin, sizeof(sin)) == 0);

    return fd;
}


/* all that the server has to say now, at most a record; 0: it has closed */

static size_t
collect(int fd, char *buf)
{
    size_t         len;
    ssize_t        n;
    struct pollfd  p = { .fd = fd, .events = POLLIN };

    len = 0;

    do {
        n = read(fd, buf + len, RECORD - len);

        if (n <= 0) {
            return 0;
        }

        len += n;

    } while (len < RECORD && poll(&p, 1, COLLECT_MS) == 1);

    return len;
}


static void
forward(SSL *ssl, int client, int server)
{
    int            n;
    char           buf[RECORD];
    size_t         len;
    struct pollfd  p[2] = { { .fd = client, .events = POLLIN },
                            { .fd = server, .events = POLLIN } };

    for ( ;; ) {
        if (SSL_pending(ssl) == 0 && poll(p, 2, -1) == -1) {
            return;
        }

        if (SSL_pending(ssl) || p[0].revents) {
            n = SSL_read(ssl, buf, sizeof(buf));

            if (n <= 0 || write(server, buf, n) != n) {
                return;
            }
        }

        if (p[1].revents) {
            len = collect(server, buf);

            if (len == 0 || SSL_write(ssl, buf, len) != (int) len) {
                return;
            }
        }
    }
}


static void *
serve_link(void *data)
{
    int      server;
    SSL     *ssl;
    char     asked[8];
    link_t  *link = data;

    /* SSLRequest */

    must(read(link->fd, asked, 8) == 8 && write(link->fd, "S", 1) == 1);

    ssl = SSL_new(link->ctx);
    must(ssl && SSL_set_fd(ssl, link->fd) == 1);

    if (SSL_accept(ssl) == 1) {
        server = loopback(link->port, connect);
        forward(ssl, link->fd, server);
        (void) close(server);
    }

    SSL_free(ssl);
    (void) close(link->fd);
    free(link);

    return NULL;
}


static int       proxy_fd;
static int       proxy_to;


static void *
serve(void *data)
{
    int        fd;
    link_t    *link;
    SSL_CTX   *ctx;
    pthread_t  thread;

    (void) data;

    ctx = tls_context();

    while ((fd = accept(proxy_fd, NULL, NULL)) != -1) {
        link = malloc(sizeof(link_t));
        must(link != NULL);

        link->fd = fd;
        link->port = proxy_to;
        link->ctx = ctx;

        must(pthread_create(&thread, NULL, serve_link, link) == 0);
        must(pthread_detach(thread) == 0);
    }

    SSL_CTX_free(ctx);

    return NULL;
}


/* the string with the proxy's port in place of the server's */

static void
through_proxy(fixture_t *f)
{
    char                string[sizeof(f->connection)];
    char               *port;
    socklen_t           len;
    sm_store_conf_t     conf;
    struct sockaddr_in  sin;

    port = strstr(f->connection, "port=");
    must(port != NULL);
    proxy_to = atoi(port + 5);

    proxy_fd = loopback(0, bind);
    len = sizeof(sin);
    must(getsockname(proxy_fd, (struct sockaddr *) &sin, &len) == 0);
    must(listen(proxy_fd, 16) == 0);

    len = snprintf(string, sizeof(string), "%.*sport=%d sslmode=require%s",
                   (int) (port - f->connection), f->connection,
                   ntohs(sin.sin_port), port + 5 + strspn(port + 5,
                                                          "0123456789"));
    must(len < sizeof(string));
    (void) memcpy(f->connection, string, len + 1);

    conf = f->store.conf;
    conf.connection = sm_str_c(f->connection);
    sm_store_done(&f->store);
    must(sm_store_init(&f->store, &sm_store_postgres, &conf) == 0);
}


static void
test_sizes(fixture_t *f)
{
    int             row, rows, done;
    char            text[128];
    sm_conn_t      *conn;
    sm_postgres_t  *pg;

    conn = sm_store_get_conn(&f->store, new_call(f));
    must(conn != NULL);

    pg = (sm_postgres_t *) conn;
    ok(PQsslInUse(pg->pq), "the connection is by TLS");

    done = 0;

    /* the end of a record is anywhere in a row, and a row in any place of it */

    for (row = 1000; row < 8100; row += 355) {
        for (rows = 1; rows <= 40; rows++) {

            (void) snprintf(text, sizeof(text), "SELECT repeat('x', %d) "
                            "FROM generate_series(1, %d)", row, rows);
            sm_postgres_start(pg, 3000);

            if (sm_postgres_statement(pg, &f->call, text) != 0
                || PQntuples(pg->result) != rows)
            {
                ok(0, "%d rows of %d bytes: %s", rows, row, f->call.error);
                (void) sm_store_put_conn(&f->store, &f->call, conn);
                return;
            }

            done++;
        }
    }

    is_int(done, 800, "answers of all sizes have arrived");

    must(sm_store_put_conn(&f->store, &f->call, conn) == 0);
}


int
main(void)
{
    fixture_t  f;
    pthread_t  thread;

    needs_server();

    if (on_babelfish()) {
        skip_all("a test of PostgreSQL");
    }

    fixture_open(&f);
    through_proxy(&f);
    must(pthread_create(&thread, NULL, serve, NULL) == 0);

    test_sizes(&f);

    (void) shutdown(proxy_fd, SHUT_RDWR);
    must(pthread_join(thread, NULL) == 0);
    (void) close(proxy_fd);

    fixture_done(&f);

    return done_testing();
}
