// CMake builds a precompiled header only for a target with a file that takes it.
#include "precompiled.hpp"
