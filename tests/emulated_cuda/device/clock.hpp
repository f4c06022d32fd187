// The host's time. Devices have none of their own: each stream knows when what it was given will be done.
//
// On the virtual clock the host advances by what calls take and by what a test adds, and waiting jumps: times are exact and
// repeat. The real clock is CLOCK_MONOTONIC, and waiting sleeps.
#pragma once

#include "settings.hpp"

namespace emulated {

Ns now();
// The host works for so long.
void pass(Ns ns);
void wait_until(Ns time);

}  // namespace emulated
