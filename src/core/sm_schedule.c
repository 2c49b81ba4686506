
#include "sm_schedule.h"
