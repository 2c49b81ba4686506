
#include "sm_policy.h"
