
/*
 * Entity tags of RFC 9110: what "If-Match" and "If-None-Match" have.
 */

#ifndef SM_TAG_H
#define SM_TAG_H


#include "sm_str.h"


/*
 * Whether a field has the tag of a thing of that revision: 1 or 0; -1: it is
 * neither "*" nor a list of tags.  "*" is any thing that is there; one of the
 * revision 0 is not there, and has no tag.  A weak tag, W/"...", counts only
 * where "weak" says so.
 */
int sm_tags_have(sm_str_t field, int64_t revision, int weak);


#endif /* SM_TAG_H */
