#include "cli/command.hpp"

int main(int argc, char** argv) { return headcount::run_program({argv + 1, argv + argc}); }
