#pragma once

#include <sys/eventfd.h>
#include <sys/timex.h>
