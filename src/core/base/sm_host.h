
/*
 * Hosts, as "Host" and "Origin" name them.  Anybody can make a name of their
 * own resolve to this server, and then a page of that name has the same origin
 * as this server.  An address cannot be forged like that.
 */

#ifndef SM_HOST_H
#define SM_HOST_H


#include "sm_str.h"


/*
 * Says whether the host is one that no name server resolves: an address (of
 * IPv6 in brackets), "localhost", or a name that ends with ".localhost".
 */
int sm_host_is_fixed(sm_str_t host);

/*
 * Says whether the pattern names the host, which is in lower case and without
 * a port.  Patterns are "a.example", "*.a.example", ".a.example" for both,
 * "a.*", and "*" for any host.  "_" and an empty pattern name no host.
 */
int sm_host_matches(sm_str_t pattern, sm_str_t host);

/* Returns NULL, or what is wrong with the pattern. */
const char *sm_host_check(sm_str_t pattern);

/*
 * Says whether an "Origin" is that of the "Host", which may have a port.  The
 * scheme is not compared, because TLS often ends before nginx.  A missing port
 * is the default of the scheme.
 */
int sm_host_is_origin(sm_str_t host, sm_str_t origin);


#endif /* SM_HOST_H */
