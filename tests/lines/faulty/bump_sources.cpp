// The line that is spoiled here.
#include "bump/bump.cpp"
