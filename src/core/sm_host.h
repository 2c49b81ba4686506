
/*
 * Hosts, as "Host" and "Origin" name them.  A page can only name a host that
 * its browser has looked up: so a name that is not ours may be anybody's, and
 * lead here nevertheless, while an address is what it says.
 */

#ifndef SM_HOST_H
#define SM_HOST_H


#include "sm_str.h"


/*
 * Whether no name server has a say in it: an address, in brackets if it is one
 * of IPv6, or "localhost" and what ends with ".localhost".
 */
int sm_host_is_fixed(sm_str_t host);

/*
 * Whether the host, in lower case and without a port, is one that the pattern
 * names: "a.example", "*.a.example", ".a.example" for both, "a.*", or "*" for
 * any.  "_", and an empty pattern, name none.
 */
int sm_host_matches(sm_str_t pattern, sm_str_t host);

/* NULL, or what is wrong with a pattern */
const char *sm_host_check(sm_str_t pattern);

/*
 * Whether an "Origin" is that of the "Host", which may have a port.  The scheme
 * may be either, as TLS often ends before nginx; a port that is not there is
 * the one of the scheme.
 */
int sm_host_is_origin(sm_str_t host, sm_str_t origin);


#endif /* SM_HOST_H */
