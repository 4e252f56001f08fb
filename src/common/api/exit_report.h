// The statistics at exit, where HAKOZUNA_STATS asks for them.
#pragma once

namespace hakozuna::api {

// At start: keeps a way to where standard error leads, because careful programs (the coreutils) close it before they exit.
void prepare_exit_report();

void print_exit_report();

}  // namespace hakozuna::api
