
/*
 * Entity tags of RFC 9110, as in "If-Match" and "If-None-Match".
 */

#ifndef SM_TAG_H
#define SM_TAG_H


#include "sm_str.h"


/*
 * Returns 1 if the field has the tag of the revision, 0 if it does not, and -1
 * if it is neither "*" nor a list of tags.  Revision 0 means that the thing
 * does not exist: it has no tag, and "*" does not match it.  A weak tag,
 * W/"...", matches only if "weak" is set.
 */
int sm_tags_have(sm_str_t field, int64_t revision, int weak);


#endif /* SM_TAG_H */
