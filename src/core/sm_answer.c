
#include "sm_answer.h"
